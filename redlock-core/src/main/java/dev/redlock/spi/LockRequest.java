package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One question to one node; all names of a multi-lock in one script, all or nothing. Immutable, and
 * shared by all nodes that are asked.
 */
public abstract sealed class LockRequest {
  private final LockKeys keys;

  /** Written and read by any thread; racing writers store equal values. */
  private @Nullable Object wireForm;

  private LockRequest(LockKeys keys) {
    this.keys = requireNonNull(keys, "keys");
  }

  /** The keys of the names asked about. */
  public final LockKeys keys() {
    return keys;
  }

  /**
   * What this request looks like on the wire, encoded once for all nodes of an adapter. Requests
   * that go to adapters of several kinds are encoded again where the type does not fit.
   */
  public final <T> T wireForm(Class<T> type, Function<? super LockRequest, ? extends T> encoder) {
    Object known = wireForm;
    if (type.isInstance(known)) {
      return type.cast(known);
    }
    T encoded = encoder.apply(this);
    wireForm = encoded;
    return encoded;
  }

  /** A place in the line of fair mode; see {@link Acquire#line()}. */
  public record Line(String process, long arrivalMicros, long timeoutMillis, boolean stand) {
    public Line {
      requireNonNull(process, "process");
    }
  }

  /**
   * Asks for the lock. Granted when each key is absent, ours, or of the previous lease id, and the
   * token is acceptable. A repeat of a granted request is granted and leaves the time to live
   * alone.
   */
  public static final class Acquire extends LockRequest {
    private final String leaseId;
    private final long token;
    private final long ttlMillis;
    private final @Nullable String previousLeaseId;
    private final long previousToken;
    private final @Nullable Line line;

    public Acquire(
        LockKeys keys,
        String leaseId,
        long token,
        long ttlMillis,
        @Nullable String previousLeaseId,
        long previousToken,
        @Nullable Line line) {
      super(keys);
      this.leaseId = requireNonNull(leaseId, "leaseId");
      this.token = token;
      this.ttlMillis = ttlMillis;
      this.previousLeaseId = previousLeaseId;
      this.previousToken = previousToken;
      this.line = line;
    }

    public String leaseId() {
      return leaseId;
    }

    /** The proposed fencing token: microseconds of node time, below 2^53. */
    public long token() {
      return token;
    }

    public long ttlMillis() {
      return ttlMillis;
    }

    /** Hand-off: the lease that is taken over, whose {@code ended} is raised; else null. */
    public @Nullable String previousLeaseId() {
      return previousLeaseId;
    }

    /** Hand-off: the token of the lease that is taken over; else 0. */
    public long previousToken() {
      return previousToken;
    }

    /**
     * Fair mode, at the door only: refuses ({@link ReplyCode#QUEUED}) while somebody who arrived
     * earlier stands in line; a refused process that {@link Line#stand() stands} is entered with
     * its arrival (0: now), a granted one leaves. Null otherwise.
     */
    public @Nullable Line line() {
      return line;
    }
  }

  /**
   * Asks to let the lease live for the lease time from now on, setting it again where it is gone.
   */
  public static final class Extend extends LockRequest {
    private final String leaseId;
    private final long token;
    private final long ttlMillis;

    public Extend(LockKeys keys, String leaseId, long token, long ttlMillis) {
      super(keys);
      this.leaseId = requireNonNull(leaseId, "leaseId");
      this.token = token;
      this.ttlMillis = ttlMillis;
    }

    public String leaseId() {
      return leaseId;
    }

    public long token() {
      return token;
    }

    public long ttlMillis() {
      return ttlMillis;
    }
  }

  /** Frees the keys where they are ours, and raises the fence (and {@code ended}) everywhere. */
  public static final class Release extends LockRequest {
    private final String leaseId;
    private final long token;
    private final boolean ended;
    private final long keepMillis;
    private final @Nullable String leaveLine;

    public Release(
        LockKeys keys,
        String leaseId,
        long token,
        boolean ended,
        long keepMillis,
        @Nullable String leaveLine) {
      super(keys);
      this.leaseId = requireNonNull(leaseId, "leaseId");
      this.token = token;
      this.ended = ended;
      this.keepMillis = keepMillis;
      this.leaveLine = leaveLine;
    }

    public String leaseId() {
      return leaseId;
    }

    public long token() {
      return token;
    }

    /** True for what has been a lease (raises {@code ended}), false for a roll-back. */
    public boolean ended() {
      return ended;
    }

    /**
     * Minimum hold: let the key live this much longer at most instead of deleting it; 0 deletes.
     */
    public long keepMillis() {
      return keepMillis;
    }

    /** Fair mode: the process that leaves the line for good, or null. */
    public @Nullable String leaveLine() {
      return leaveLine;
    }
  }

  /**
   * An operator takes the lock from whoever holds it: deletes, raises fence and ended to the token.
   */
  public static final class Break extends LockRequest {
    private final long token;

    public Break(LockKeys keys, long token) {
      super(keys);
      this.token = token;
    }

    /** Above every fence seen, so that the holder can neither extend nor repair. */
    public long token() {
      return token;
    }
  }

  /** Reads, and changes nothing: answers HELD with holder and fence, or NOT_OWNER when free. */
  public static final class Inspect extends LockRequest {
    public Inspect(LockKeys keys) {
      super(keys);
    }
  }
}
