package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.redlock.internal.text.HolderMark;
import org.junit.jupiter.api.Test;

class ProcessLabelTest {
  @Test
  void label_ofHostAndProcess_beginsWithTheApplicationIfThereIsOne() {
    assertThat(ProcessLabel.of("", "pod-3", 17)).isEqualTo("pod-3/17");
    assertThat(ProcessLabel.of("orders", "pod-3", 17)).isEqualTo("orders@pod-3/17");
    assertThat(ProcessLabel.of("orders", "", 17)).isEqualTo("orders@pid-17");
  }

  @Test
  void label_ofLongOrOddNames_isALabelThatKeepsTheEndOfTheHost() {
    String host = "h".repeat(70) + "-abcde";
    String label = ProcessLabel.of("ö\u0000 ~".repeat(20), host, Long.MAX_VALUE);
    assertThat(label).hasSize(HolderMark.MAX_LABEL_BYTES).endsWith("-abcde/" + Long.MAX_VALUE);
    assertThatCode(() -> HolderMark.suffix(label)).doesNotThrowAnyException();
  }

  @Test
  void label_ofThisProcess_endsWithItsId() {
    assertThat(ProcessLabel.of("")).endsWith(String.valueOf(ProcessHandle.current().pid()));
  }
}
