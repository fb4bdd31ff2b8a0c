package dev.redlock.cluster.internal;

import dev.redlock.cluster.internal.ChannelHints.SideConnection;
import dev.redlock.lettuce.internal.scripts.EncodedRequest;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The subscription to the channel of one lock: whether the client still needs it, and where the
 * server has it. Guarded by the {@link ChannelHints}, except volatile fields.
 */
final class Subscription {
  /**
   * How long a subscription outlives its last waiter: a caller that waited is likely to wait again.
   */
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final String lockKey;
  private final int slot;

  /** The connection on which the client subscribed; null if it must subscribe again. */
  private @Nullable SideConnection asked;

  /** The connection on which the server confirmed it. */
  private @Nullable SideConnection confirmed;

  private boolean everConfirmed;

  /** Written by watch and forget, read by the sweep; 0 while a caller waits. */
  private volatile long idleSinceNanos;

  /**
   * The token of this client's newest release of the lock, whose hint is ignored. Written by the
   * senders.
   */
  private volatile String ownToken = "";

  Subscription(String lockKey, int slot) {
    this.lockKey = lockKey;
    this.slot = slot;
  }

  String lockKey() {
    return lockKey;
  }

  int slot() {
    return slot;
  }

  String channel() {
    return lockKey + EncodedRequest.FREED;
  }

  /** The key of the lock with this channel; null if it is another channel. */
  static @Nullable String lockKeyOf(String channel) {
    return channel.endsWith(EncodedRequest.FREED)
        ? channel.substring(0, channel.length() - EncodedRequest.FREED.length())
        : null;
  }

  // Whether it is needed.

  /** A caller waits. */
  void revive() {
    idleSinceNanos = 0;
  }

  /** No caller waits any more. */
  void idle(long nowNanos) {
    idleSinceNanos = nowNanos == 0 ? 1 : nowNanos;
  }

  /** This subscription; null if it has been idle for so long that it ends. */
  @Nullable Subscription kept(long nowNanos) {
    long idleSince = idleSinceNanos;
    return idleSince != 0 && nowNanos - idleSince > LINGER_NANOS ? null : this;
  }

  /** This client sends a release with this token. */
  void releasing(long token) {
    ownToken = Long.toString(token);
  }

  boolean isOwn(String token) {
    return token.equals(ownToken);
  }

  // Where the server has it.

  /** The client subscribes on this connection. */
  void ask(SideConnection on) {
    asked = on;
  }

  @Nullable SideConnection asked() {
    return asked;
  }

  /** The server does not have it any more. */
  void lose() {
    asked = null;
    confirmed = null;
  }

  /**
   * The server has it on the connection where the client asked.
   *
   * @param tracked whether the invalidations of the master cover the time since the refusal
   * @return whether hints were missed: those since the refusal, or since the loss of the last
   *     subscription
   */
  boolean confirm(boolean tracked) {
    boolean covered = confirmed == asked || (!everConfirmed && tracked);
    confirmed = asked;
    everConfirmed = true;
    return !covered;
  }
}
