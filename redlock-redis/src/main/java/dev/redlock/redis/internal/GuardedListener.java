package dev.redlock.redis.internal;

import static dev.redlock.redis.internal.OperatorLog.log;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeReply;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Calls what the client gave. Its exceptions must not end a connection or a timer. */
public record GuardedListener(LockNode node, LockNode.Listener listener) {
  /** Calls the handler of a request. */
  public static void reply(String node, NodeReply reply, Consumer<NodeReply> handler) {
    try {
      handler.accept(reply);
    } catch (RuntimeException | Error e) {
      log.error("node {}: a reply handler failed with an exception", node, e);
    }
  }

  public void onStatus() {
    call(to -> to.onStatus(node));
  }

  public void onClock(long nodeMicros, long sentNanos, long answeredNanos) {
    call(to -> to.onClock(node, nodeMicros, sentNanos, answeredNanos));
  }

  public void onInvalidated(String key) {
    call(to -> to.onInvalidated(node, key));
  }

  public void onAllInvalidated() {
    call(to -> to.onAllInvalidated(node));
  }

  public void onReleaseHint(String key) {
    call(to -> to.onReleaseHint(node, key));
  }

  /** Why the client refuses this server; null if it accepts it, or if the listener failed. */
  public @Nullable String objection(@Nullable NodeIdentity identity, String markerId) {
    try {
      return listener.objection(node, identity, markerId);
    } catch (RuntimeException | Error e) {
      logFailure(e);
      return null;
    }
  }

  public @Nullable String objection(Probe probe) {
    return objection(probe.identity(), probe.markerId());
  }

  private void call(Consumer<LockNode.Listener> event) {
    try {
      event.accept(listener);
    } catch (RuntimeException | Error e) {
      logFailure(e);
    }
  }

  private void logFailure(Throwable failure) {
    log.error("node {}: the listener failed with an exception", node.name(), failure);
  }
}
