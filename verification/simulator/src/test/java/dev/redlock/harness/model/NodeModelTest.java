package dev.redlock.harness.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockRequest;
import org.junit.jupiter.api.Test;

class NodeModelTest {

  @Test
  void windowOfTokens_isThatOfTheProtocol() {
    assertThat(NodeModel.SLACK_MICROS).isEqualTo(LockRequest.Acquire.SLACK_MICROS);
    assertThat(NodeModel.AHEAD_MICROS).isEqualTo(LockRequest.Acquire.AHEAD_MICROS);
  }
}
