package dev.redlock.testkit.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.TokenWindow;
import org.junit.jupiter.api.Test;

class NodeModelTest {

  @Test
  void windowOfTokens_isThatOfTheProtocol() {
    assertThat(NodeModel.SLACK_MICROS).isEqualTo(TokenWindow.SLACK_MICROS);
    assertThat(NodeModel.AHEAD_MICROS).isEqualTo(TokenWindow.AHEAD_MICROS);
  }
}
