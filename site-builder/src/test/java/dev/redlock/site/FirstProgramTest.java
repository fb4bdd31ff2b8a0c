package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/first-project.md, word for word, prints what the page says. */
class FirstProgramTest {
  private static final int BUSY_THREADS = 20;

  @TempDir private Path folder;

  /** Keeps the machine busy until the input ends: also if this test is killed. */
  static final class Busy {
    private Busy() {}

    public static void main(String[] args) throws IOException {
      for (int i = 0; i < BUSY_THREADS; i++) {
        Thread busy =
            new Thread(
                () -> {
                  while (true) {
                    Thread.onSpinWait();
                  }
                });
        busy.setDaemon(true);
        busy.start();
      }
      System.in.read();
    }
  }

  @Test
  @Tag("thorough")
  void firstProgram_onAMachineWithLoad20_printsWhatThePageSays() throws Exception {
    List<Block> blocks =
        Block.of(
            "first-project", Files.readString(Repository.ROOT.resolve("docs/first-project.md")));
    Block program =
        blocks.stream()
            .filter(block -> block.code().contains("class First"))
            .findFirst()
            .orElseThrow();
    Block printed =
        blocks.stream()
            .filter(block -> block.before().contains("It prints"))
            .findFirst()
            .orElseThrow();
    String classPath = System.getProperty("java.class.path");
    Path source = Files.writeString(folder.resolve("First.java"), program.code());
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-cp", classPath, source.toString()))
        .isZero();

    Process busy = java(classPath, Busy.class.getName()).start();
    try {
      Process first =
          java(folder + File.pathSeparator + classPath, "First")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String output = new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(output).isEqualTo(printed.code());
      assertThat(first.waitFor()).isZero();
      assertThat(busy.isAlive()).as("busy to the end").isTrue();
    } finally {
      busy.destroyForcibly();
    }
  }

  private static ProcessBuilder java(String classPath, String main) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(java, "-cp", classPath, main);
  }
}
