package dev.redlock.internal.protocol;

import static java.util.Objects.requireNonNull;

import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One holder's lease, from its beginning to its end: its fencing token, its cap, and whether it has
 * ended. What the nodes store for it is its {@link Grant}; the {@link LeaseExtender} keeps that
 * alive.
 *
 * <p>The holder must stop before another client can win. Two naive ways fail:
 *
 * <ul>
 *   <li>The lease is trusted for its lease time from the reply on. A asks for one second, and the
 *       reply takes 400 ms. A's keys expire after 1000 ms, B acquires after 1100 ms, and A trusts
 *       its lease until 1400 ms. So validity begins before the first request is sent, and is
 *       shortened by the clock drift (MIN_VALIDITY of the Redis specification). An extension moves
 *       the deadline only if its votes came before the old one.
 *   <li>The release is sent, and the lease ends with the replies. The nodes execute the release, B
 *       acquires, and another thread of A still finds the lease valid. So a lease ends here first,
 *       then on the nodes. At the end of its validity it ends a little before the deadline.
 * </ul>
 *
 * <p>Confined to the actor of its {@link LockMachine}, except for four volatile values: the end,
 * the request to release and whether the lease was unused here, and the validity in {@link Grant}.
 * The actor writes them; the thread that releases writes the two of the request. Any thread reads
 * the others and the request to learn whether the lease is valid. They stay in this package because
 * the machine reads the request as well, before the event of the release reaches the actor. A copy
 * in the shell would be a second owner of the same fact.
 */
public final class HeldLease {
  /**
   * How many tokens belong to one grant: the one that the nodes store, a multiple of this, and
   * those up to the next multiple. No client proposes the latter, so no node is asked for them.
   * They go to the leases of one process that get the grant by local hand-off.
   */
  public static final long TOKENS_PER_GRANT = 64;

  final Grant grant;
  final LeaseExtender extender;
  final long grantedNanos;
  final long capNanos;

  /** How many leases of this process have handed the lock off in a row before this one. */
  final int handOffs;

  private final long token;

  private volatile @Nullable LeaseEnd end;
  private volatile boolean releaseAsked;
  private volatile boolean unused;

  HeldLease(Grant grant, Nodes nodes, Randomness random, List<Effect> effects) {
    this.grant = grant;
    token = grant.token;
    handOffs = 0;
    grantedNanos = grant.votes.sentNanos();
    capNanos = grantedNanos + grant.options.holdCap().toNanos();
    extender = new LeaseExtender(this, nodes, random, effects);
  }

  /** The lease of the next waiter, by the same grant; call {@link LeaseExtender#resume} then. */
  HeldLease(HeldLease before, long nowNanos) {
    grant = before.grant;
    extender = before.extender;
    token = before.token + 1;
    handOffs = before.handOffs + 1;
    grantedNanos = nowNanos;
    capNanos = nowNanos + grant.options.holdCap().toNanos();
  }

  /**
   * Whether this waiter may have the grant now, without a round. Minimum hold must be over, and
   * enough validity left. The votes that won the grant must win again now; as any vote, they count
   * no longer than a node timeout. Nothing that came since may cast doubt on them, and the grant
   * must have a token left. A lease that does not extend itself begins with its whole lease time,
   * and so with a round.
   */
  boolean mayHandOff(Waiter next, long nowNanos, long nowWallMillis) {
    return handOffs < grant.options.maxHandOffs()
        && next.options.equals(grant.options)
        && !grant.options.fair() // Only the nodes know which processes are queued.
        && nowNanos - grantedNanos >= grant.options.minimumHold().toNanos()
        && validity().remaining(nowNanos, nowWallMillis) > grant.options.nodeTimeout().toNanos()
        && extender.isWithoutDoubt()
        && grant.votes.wouldWin(nowNanos, nowWallMillis)
        && token + 1 < grant.token + TOKENS_PER_GRANT;
  }

  /** The lease id, the value of its lock keys. */
  public String id() {
    return grant.id;
  }

  /** Its fencing token, for the resource. */
  public long token() {
    return token;
  }

  /** When its hold began: when its round was sent, or at the local hand-off. */
  public long grantedNanos() {
    return grantedNanos;
  }

  public LockKeys keys() {
    return grant.keys;
  }

  public LockOptions options() {
    return grant.options;
  }

  /** The newest validity of its grant, also after the end. */
  public Validity validity() {
    return grant.validity();
  }

  public @Nullable LeaseEnd end() {
    return end;
  }

  /** The time it may still be trusted: 0 once it ended or its release was asked for. */
  public long remainingNanos(long nowNanos, long nowWallMillis) {
    return end != null || releaseAsked ? 0 : validity().remaining(nowNanos, nowWallMillis);
  }

  /**
   * Ends its validity at once, whatever its actor is doing. Called by the thread that releases,
   * before anything is sent.
   */
  public void askRelease() {
    releaseAsked = true;
  }

  /** Nobody ran under it: no minimum hold is due. Called before the release is asked for. */
  public void unused() {
    unused = true;
  }

  boolean isReleaseAsked() {
    return releaseAsked;
  }

  /** How it ends if its validity is over, early enough to tell the holder in time; or null. */
  @Nullable LeaseEnd overdue(long nowNanos, long nowWallMillis) {
    if (validity().remaining(nowNanos, nowWallMillis) > marginNanos()) {
      return null;
    }
    return capNanos - validity().deadlineNanos() <= 1_000_000L
        ? LeaseEnd.CAP_REACHED
        : LeaseEnd.EXPIRED;
  }

  /**
   * For how long nodes keep its keys after its end, at least 0: for the minimum hold, and for what
   * is left of a lease that ended by itself. Its holder is told early, but may have read before how
   * much time was left, and count down.
   */
  long keepNanos(long nowNanos) {
    long minimum = unused ? 0 : grant.options.minimumHold().toNanos();
    long hold = Math.max(0, grantedNanos + minimum - nowNanos);
    long left = validity().deadlineNanos() - nowNanos;
    return switch (requireNonNull(end)) {
      case LOST -> 0;
      // If more is left, the wall clock ended it: the machine was suspended, the keys are gone.
      case EXPIRED, CAP_REACHED -> left > marginNanos() ? 0 : Math.max(hold, left);
      default -> hold;
    };
  }

  private long marginNanos() {
    return Math.min(10_000_000L, grant.options.leaseTime().toNanos() / 100);
  }

  void deadlines(NextWake wake) {
    wake.at(validity().deadlineNanos() - marginNanos());
    extender.deadlines(wake);
  }

  /** Ends it; once. */
  void finish(LeaseEnd how) {
    end = how;
    extender.settleAcks(new Effect.Result(null, how));
  }
}
