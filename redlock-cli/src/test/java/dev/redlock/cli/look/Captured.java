package dev.redlock.cli.look;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.cli.Main;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * What a command printed in this JVM, and its exit code.
 *
 * @param code its exit code
 * @param out its standard output
 * @param err its standard error
 */
record Captured(int code, String out, String err) {

  /** Runs a command on these nodes. Not for several threads. */
  static Captured run(List<String> uris, String... words) {
    List<String> args = new ArrayList<>(List.of(words));
    args.addAll(1, List.of("--nodes", String.join(",", uris)));
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(outBytes, true, UTF_8));
    System.setErr(new PrintStream(errBytes, true, UTF_8));
    int code;
    try {
      code = Main.run(args.toArray(new String[0]));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    return new Captured(code, outBytes.toString(UTF_8), errBytes.toString(UTF_8));
  }
}
