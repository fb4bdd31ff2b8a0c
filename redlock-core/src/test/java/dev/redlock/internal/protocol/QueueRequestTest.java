package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QueueRequestTest {
  private final Waiter next = new TestNodes.Caller(TestNodes.options().build(), 0, 5, false);

  private static boolean isFirst(@Nullable Waiter early, @Nullable NodeReply reply) {
    QueueRequest request = new QueueRequest(new TestNodes(1), 0, 0, 5, early);
    if (reply != null) {
      request.record(0, reply);
    }
    return request.isFirstAfterOwnLease();
  }

  @Test
  void firstAfterOwnLease_isWhoTookThePlaceEarlyAndFoundNoOther() {
    NodeReply held = TestNodes.held(100);
    assertThat(isFirst(next, held)).isTrue();
    assertThat(isFirst(null, held)).as("another process may hold the lock").isFalse();
    assertThat(isFirst(next, null)).as("no reply yet").isFalse();
    assertThat(isFirst(next, TestNodes.reply(Code.QUEUED))).as("another's turn").isFalse();
    assertThat(isFirst(next, MachineFixture.reply(Code.HELD, 1))).as("the second").isFalse();
  }
}
