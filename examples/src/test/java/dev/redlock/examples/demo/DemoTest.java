package dev.redlock.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class DemoTest {
  @Test
  void control_withoutAFile_leavesThePictureOfTheDemoAlone() {
    assertThat(page()).isEqualTo(Path.of("timeline.html").toAbsolutePath());
    assertThat(page("--no-lock")).isEqualTo(Path.of("timeline-no-lock.html").toAbsolutePath());
    assertThat(page("--no-lock", "--out", "/tmp/my.html")).isEqualTo(Path.of("/tmp/my.html"));
  }

  private static Path page(String... options) {
    Demo demo = new Demo();
    new CommandLine(demo).parseArgs(options);
    return demo.plan().page();
  }
}
