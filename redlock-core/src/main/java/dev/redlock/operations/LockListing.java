package dev.redlock.operations;

import dev.redlock.internal.text.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A listing of the locks that are held, page by page; see {@link Operations#list}. It keeps some
 * hundred locks in memory, and reads more only when the caller asks for the next page. Safe from
 * any thread.
 */
public interface LockListing extends AutoCloseable {

  /**
   * The next page, in no order: 100 locks, fewer at the end, none if the listing is over. The
   * listing answers calls one after another. Completes on the callback executor.
   *
   * <p>Fails with {@link dev.redlock.QuorumUnavailableException} if fewer nodes than a quorum could
   * be read, with {@link dev.redlock.RedlockClosedException} if the client is closed before that,
   * and with {@link IllegalStateException} after {@link #close()}.
   */
  CompletionStage<List<Entry>> next();

  /** Ends the listing. Idempotent. */
  @Override
  void close();

  /**
   * A lock that was held when it was listed; see {@link Operations#list}.
   *
   * @param name its name
   * @param holder a short hash of the holder's lease id, as in an {@link dev.redlock.AcquireReport}
   * @param holderLabel the {@linkplain dev.redlock.RedlockBuilder#label label} of the holder's
   *     client, a hint; null if it has none
   * @param remaining the time after which fewer nodes than a quorum store the lease, unless it is
   *     extended
   * @param highestTokenSeen the highest fencing token of the name that a node has seen; 0 if none.
   *     Not the token of the holder: see {@link LockInspection.NodeView#highestTokenSeen}
   * @param storedBy how many of the nodes that replied store the lease
   * @param waiting how many processes wait in the queue of each node, by the name of the node;
   *     nodes with an empty queue are left out
   */
  record Entry(
      String name,
      String holder,
      @Nullable String holderLabel,
      Duration remaining,
      long highestTokenSeen,
      int storedBy,
      Map<String, Integer> waiting) {
    public Entry {
      waiting = Map.copyOf(waiting);
    }

    /** All of it, printable: names may contain control characters. */
    @Override
    public String toString() {
      String time = Printable.of(remaining);
      return Printable.of(
          ("LockListing.Entry[name=%s, holder=%s, holderLabel=%s, remaining=%s,"
                  + " highestTokenSeen=%s, storedBy=%s, waiting=%s]")
              .formatted(name, holder, holderLabel, time, highestTokenSeen, storedBy, waiting));
    }
  }
}
