package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import org.junit.jupiter.api.Test;

class BroadcastTest {
  private static final LockRequest INSPECT = new LockRequest.Inspect(TestNodes.KEYS, true);

  private final TestNodes nodes = new TestNodes(3);

  private Broadcast breaking(long above) {
    return Broadcast.breaking(nodes, TestNodes.KEYS, above, 1000);
  }

  private static NodeReply broken(Code code, long fence) {
    return NodeReply.of(code, 1, 0, fence);
  }

  @Test
  void begin_asksEachNodeWithAProbedConnection() {
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    nodes.state(2, NodeStatus.State.QUARANTINED, 1);
    Broadcast b = new Broadcast(nodes, INSPECT, 1000);
    assertThat(b.send()).isEqualTo(new Effect.Send(b, INSPECT, 0b101));
    assertThat(b.sentNanos()).isEqualTo(1000);
  }

  @Test
  void token_ofABreak_isAboveTheGivenOne() {
    LockRequest.Break request = (LockRequest.Break) breaking(130).send().request();
    assertThat(request.keys()).isEqualTo(TestNodes.KEYS);
    assertThat(request.token()).isEqualTo(192);
  }

  @Test
  void lock_isBroken_onceAQuorumStoresNoLease() {
    Broadcast b = breaking(0);
    assertThat(b.isBroken(0)).isFalse();
    assertThat(b.reply(0)).isNull();
    b.onReply(0, broken(Code.RELEASED, 64), 1001);
    b.onReply(1, TestNodes.reply(Code.STALE), 1001);
    assertThat(b.reply(0)).isEqualTo(broken(Code.RELEASED, 64));
    assertThat(b.isBroken(0)).isTrue();
    assertThat(b.isBroken(1)).isFalse();
    assertThat(b.isBroken()).as("one of three").isFalse();
    assertThat(b.hasEnded(64)).isFalse();
    b.onReply(2, broken(Code.NOT_OWNER, 128), 1001);
    assertThat(b.isBroken()).isTrue();
    assertThat(b.hasEnded(64)).isTrue();
    assertThat(b.hasEnded(65)).as("n2 alone").isFalse();
  }

  @Test
  void broadcast_isOver_whenAllReplied() {
    Broadcast b = new Broadcast(nodes, INSPECT, 1000);
    assertThat(b.onReply(0, TestNodes.reply(Code.NOT_OWNER), 1001)).isFalse();
    assertThat(b.onReply(1, TestNodes.reply(Code.NOT_OWNER), 1001)).isFalse();
    assertThat(b.onReply(1, TestNodes.reply(Code.STALE), 1001)).as("a copy").isFalse();
    assertThat(b.onReply(2, TestNodes.reply(Code.NOT_OWNER), 1002)).isTrue();
    assertThat(b.isBroken(1)).isTrue();
    assertThat(b.isBroken()).isTrue();
    assertThat(nodes.knowledge(2).heardNanos()).isEqualTo(1002);
  }
}
