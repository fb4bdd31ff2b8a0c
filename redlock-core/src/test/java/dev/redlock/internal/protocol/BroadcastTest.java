package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BroadcastTest {
  private final TestNodes nodes = new TestNodes(3);
  private final List<Effect> effects = new ArrayList<>();

  private Broadcast begin(LockRequest request) {
    return new Broadcasts(nodes, effects).begin(request, 100, 1000);
  }

  @Test
  void begin_asksEachNodeWithAProbedConnection() {
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    nodes.state(2, NodeStatus.State.QUARANTINED, 1);
    LockRequest request = new LockRequest.Inspect(TestNodes.KEYS, true);
    Broadcast b = begin(request);
    assertThat(effects).containsExactly(new Effect.Send(b, request, 0b101));
    assertThat(b.sentNanos()).isEqualTo(1000);
    assertThat(b.deadlineNanos).isEqualTo(1100);
    assertThat(b.breaks()).isFalse();
    assertThat(begin(new LockRequest.Break(TestNodes.KEYS, 64)).breaks()).isTrue();
  }

  @Test
  void lock_isBroken_onceAQuorumStoresNoLease() {
    Broadcast b = begin(new LockRequest.Break(TestNodes.KEYS, 64));
    assertThat(b.isBroken(0)).isFalse();
    assertThat(b.reply(0)).isNull();
    b.record(0, TestNodes.reply(Code.RELEASED));
    b.record(1, TestNodes.reply(Code.STALE));
    assertThat(b.reply(0)).isEqualTo(TestNodes.reply(Code.RELEASED));
    assertThat(b.isBroken(0)).isTrue();
    assertThat(b.isBroken(1)).isFalse();
    assertThat(b.isBroken()).as("one of three").isFalse();
    b.record(2, TestNodes.reply(Code.NOT_OWNER));
    assertThat(b.isBroken()).isTrue();
  }

  @Test
  void broadcast_isOver_whenAllReplied() {
    Broadcast b = begin(new LockRequest.Inspect(TestNodes.KEYS, true));
    b.answered(0);
    b.answered(1);
    assertThat(b.isOver(1099)).isFalse();
    b.answered(2);
    assertThat(b.isOver(1001)).isTrue();
  }

  @Test
  void broadcast_isOver_atTheTimeout() {
    Broadcast b = begin(new LockRequest.Inspect(TestNodes.KEYS, true));
    assertThat(b.isOver(1100)).isTrue();
  }
}
