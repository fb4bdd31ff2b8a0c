package dev.redlock.internal.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A label passes through a lease id and a reply unchanged, and harms neither. */
class HolderMarkTest {
  @ParameterizedTest
  @ValueSource(strings = {"orders-7f9c/pod-3", "a b", "~%7e~", "größe/鎖", "🔒", "%", "%4", "'\"{}"})
  void label_throughIdAndReply_isUnchanged(String label) {
    String id = "hu-Z_09" + HolderMark.suffix(label);
    String mark = "0123abcd" + HolderMark.suffixOf(id);
    assertThat(mark).matches("[!-~]+");
    assertThat(HolderMark.isMark(mark)).isTrue();
    assertThat(HolderMark.of(mark)).isEqualTo(new HolderMark("0123abcd", label));
  }

  @Test
  void label_ofTheGreatestLength_isAccepted() {
    String label = "鎖".repeat(21) + "x";
    assertThat(HolderMark.of("ab" + HolderMark.suffix(label)).label()).isEqualTo(label);
    assertThatThrownBy(() -> HolderMark.suffix(label + "y"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a label may have 64 bytes of UTF-8, this one has 65");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\nb", "a\u0000", "a\u202eb", "\u2028", "\ud800", "a\u200fb", "\u061c"})
  void label_thatIsNotPrintable_isRejected(String label) {
    assertThatThrownBy(() -> HolderMark.suffix(label)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void label_thatNoClientOfThisLibraryWrote_commandsNoTerminal() {
    assertThat(HolderMark.of("0123abcd~%1b[2J%0a2026%e2%80%ae").label())
        .isEqualTo("\\u001b[2J\\u000a2026\\u202e");
  }

  @Test
  void label_ofTenKilobytes_isRejectedWithAShortMessage() {
    assertThatThrownBy(() -> HolderMark.suffix("\n".repeat(10_000)))
        .isInstanceOf(IllegalArgumentException.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(500));
  }

  @Test
  void id_withoutLabel_hasNoSuffix() {
    assertThat(HolderMark.suffix("")).isEmpty();
    assertThat(HolderMark.suffixOf("lease of holder")).isEmpty();
    assertThat(HolderMark.suffixOf("a~b c")).isEmpty();
    assertThat(HolderMark.of("0123abcd")).isEqualTo(new HolderMark("0123abcd", null));
    assertThat(HolderMark.of("0123abcd~")).isEqualTo(new HolderMark("0123abcd", null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "~a", "xyz", "ab~a b", "ab~a~b", "ab~\u00e9"})
  void reply_thatNoScriptReturns_isNoMark(String mark) {
    assertThat(HolderMark.isMark(mark)).isFalse();
  }
}
