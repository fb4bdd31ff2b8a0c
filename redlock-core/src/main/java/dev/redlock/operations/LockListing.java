package dev.redlock.operations;

import java.util.List;
import java.util.concurrent.CompletionStage;

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
  CompletionStage<List<ListedLock>> next();

  /** Ends the listing and closes its connections. Idempotent. */
  @Override
  void close();
}
