package dev.redlock.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Standard error that no writer waits for. Its reader may be a pipe that is full, or a terminal
 * that is stopped, and neither an extension nor KILL may wait for that. What is too much is
 * dropped.
 */
final class Aside extends OutputStream {
  private static final int LINES = 1_000;

  private final PrintStream err = System.err;
  private final ThreadPoolExecutor writer =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(LINES),
          new DefaultThreadFactory("redlock-err", true),
          new ThreadPoolExecutor.DiscardPolicy());

  /** Puts itself in the place of {@code System.err}. */
  static void install() {
    System.setErr(new PrintStream(new Aside(), true, UTF_8));
  }

  @Override
  public void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    byte[] copy = Arrays.copyOfRange(bytes, offset, offset + length);
    writer.execute(() -> err.write(copy, 0, length));
  }

  /** Waits for a second at most until all is written. */
  @Override
  public void close() {
    writer.shutdown();
    try {
      if (writer.awaitTermination(1, TimeUnit.SECONDS)) {
        err.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
