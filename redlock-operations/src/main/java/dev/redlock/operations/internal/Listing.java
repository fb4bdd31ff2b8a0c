package dev.redlock.operations.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.AcquireReport.Vote;
import dev.redlock.RedlockClosedException;
import dev.redlock.internal.sets.Members;
import dev.redlock.operations.LockListing;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockReader.StoredLock;
import dev.redlock.spi.Time;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lists the locks that a quorum of nodes stores.
 *
 * <p>Nodes scan their keys in different orders. To merge whole scans would need the memory of all
 * names. Instead one node is scanned at a time, and the other nodes are asked for the names of each
 * page. A lock that a quorum stores is missing on at most N − quorum nodes, so N − quorum + 1 scans
 * find it. A later scan leaves out what a node that was scanned before stores as well: that was
 * listed already. So only what one step found is kept.
 *
 * <p>After each step the listing pauses for as long as the step took, so that the nodes serve
 * others for most of the time.
 */
final class Listing implements LockListing {
  /** A script that looks at so many keys takes one or two milliseconds. */
  private static final int KEYS_PER_STEP = 800;

  private static final int PAGE = 100;
  private static final long MIN_PAUSE_NANOS = 3_000_000;
  private static final long MAX_PAUSE_NANOS = 200_000_000;

  private final ClientOperations side;
  private final Time time;
  private final String keyPrefix;
  private final NamePattern pattern;
  private final Members members;

  /** At the index of the node; null if it cannot be read. */
  private final @Nullable LockReader[] readers;

  /** Why a node cannot be read, and is not read again. Steps, and reads within one, are ordered. */
  private final @Nullable String[] errors;

  // Confined to the step in progress; the chain of futures orders steps.
  private final List<Integer> scanned = new CopyOnWriteArrayList<>();
  private int scanning = -1;
  private String cursor = "0";

  /** Locks that were found and not returned yet: those of one step and one page at most. */
  private final List<LockListing.Entry> found = new ArrayList<>();

  /** When the next step may begin. */
  private long notBeforeNanos;

  // Guarded by this.
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  /** The page that is asked for. Written by its first step, read by the end. */
  private volatile @Nullable CompletableFuture<List<LockListing.Entry>> current;

  /** Why it is over; null while it is open. Written under the lock, read by any step. */
  private volatile @Nullable RuntimeException end;

  Listing(ClientOperations side, String pattern) {
    this.side = side;
    time = side.client.settings().time();
    keyPrefix = side.client.settings().keyPrefix();
    this.pattern = new NamePattern(pattern);
    int n = side.client.set().seen().size();
    members = side.client.members();
    readers = new LockReader[n];
    errors = new String[n];
    notBeforeNanos = time.nanos();
    IntFunction<@Nullable String> objections = Refusals.objections(side.client);
    for (int i = 0; i < n; i++) {
      errors[i] = members.contains(i) ? objections.apply(i) : "is no member";
      if (errors[i] != null) {
        continue;
      }
      try {
        readers[i] = side.client.node(i).reader();
      } catch (RuntimeException e) {
        errors[i] = String.valueOf(e.getMessage());
      }
    }
  }

  @Override
  public CompletionStage<List<LockListing.Entry>> next() {
    CompletableFuture<List<LockListing.Entry>> result = new CompletableFuture<>();
    CompletableFuture<?> before;
    synchronized (this) {
      before = last;
      last = result.handle((done, failure) -> null);
    }
    before.whenComplete(
        (done, failure) -> {
          current = result;
          proceed(result);
        });
    return result.minimalCompletionStage();
  }

  private void proceed(CompletableFuture<List<LockListing.Entry>> result) {
    RuntimeException over = end;
    if (over != null) {
      fail(result, over);
    } else if (found.size() >= PAGE || isDone()) {
      if (isDone()) {
        side.listings.remove(this);
      }
      List<LockListing.Entry> next = found.subList(0, Math.min(PAGE, found.size()));
      List<LockListing.Entry> page = List.copyOf(next);
      next.clear();
      side.client.callbacks().execute(() -> result.complete(page));
    } else if (readable() < members.quorum()) {
      fail(
          result,
          Refusals.unavailable(
              side.client,
              "locks not listed",
              List.of(pattern.pattern()),
              Vote.NOT_ASKED,
              i -> errors[i]));
    } else {
      long pause = notBeforeNanos - time.nanos();
      if (pause > 0) {
        time.schedule(() -> step(result), pause);
      } else {
        step(result);
      }
    }
  }

  private boolean isDone() {
    return scanned.size() >= members.blocking(); // N − quorum + 1
  }

  private int readable() {
    return (int) Arrays.stream(errors).filter(Objects::isNull).count();
  }

  private void fail(CompletableFuture<List<LockListing.Entry>> result, RuntimeException why) {
    side.client.callbacks().execute(() -> result.completeExceptionally(why));
  }

  /** One step of the scan of a node, then what the other nodes store for the same names. */
  private void step(CompletableFuture<List<LockListing.Entry>> result) {
    if (scanning < 0) {
      scanning = nextToScan();
      cursor = "0";
    }
    int node = scanning;
    long begun = time.nanos();
    reading(node, reader -> reader.scan(keyPrefix, cursor, KEYS_PER_STEP))
        .thenCompose(
            page -> page == null ? CompletableFuture.completedStage(null) : merge(node, page))
        .whenComplete(
            (done, failure) -> {
              long took = time.nanos() - begun;
              long pause = Math.max(MIN_PAUSE_NANOS, took);
              notBeforeNanos = begun + took + Math.min(MAX_PAUSE_NANOS, pause);
              if (failure != null) {
                side.client.report("a step of a listing", "", failure);
                fail(result, new CompletionException(failure));
              } else {
                proceed(result);
              }
            });
  }

  private int nextToScan() {
    return IntStream.range(0, readers.length)
        .filter(i -> !scanned.contains(i) && errors[i] == null)
        .findFirst()
        .orElseThrow(); // At least a quorum can be read.
  }

  private interface Question {
    CompletionStage<LockReader.Page> ask(LockReader reader);
  }

  /** The node's reply; null if there is none, and the node is not read again. */
  private CompletionStage<LockReader.@Nullable Page> reading(int node, Question question) {
    CompletionStage<LockReader.Page> asked;
    try {
      asked = question.ask(requireNonNull(readers[node]));
    } catch (RuntimeException e) {
      asked = CompletableFuture.failedStage(e);
    }
    return asked.handle(
        (reply, failure) -> {
          if (failure != null) {
            onFailure(node, failure);
            return null;
          }
          return reply;
        });
  }

  private synchronized void onFailure(int node, Throwable failure) {
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    String message = cause.getMessage();
    errors[node] = message == null ? cause.toString() : message;
    scanned.remove((Integer) node);
    if (scanning == node) {
      scanning = -1;
    }
  }

  private CompletionStage<@Nullable Void> merge(int node, LockReader.Page step) {
    List<StoredLock> matching = new ArrayList<>();
    List<String> keys = new ArrayList<>();
    for (StoredLock lock : step.locks()) {
      if (LockKeys.nameOf(keyPrefix, lock.lockKey()).filter(pattern::matches).isPresent()) {
        matching.add(lock);
        keys.add(lock.lockKey());
      }
    }
    List<CompletableFuture<LockReader.@Nullable Page>> others = new ArrayList<>();
    PageMerge merge = new PageMerge(side.client, members);
    merge.add(node, matching);
    for (int i = 0; i < readers.length; i++) {
      int other = i;
      if (i != node && errors[i] == null && !keys.isEmpty()) {
        others.add(
            reading(i, reader -> reader.inspect(keys))
                .thenApply(
                    reply -> {
                      if (reply != null) {
                        merge.add(other, reply.locks());
                      }
                      return reply;
                    })
                .toCompletableFuture());
      }
    }
    return CompletableFuture.allOf(others.toArray(CompletableFuture[]::new))
        .thenAccept(
            done -> {
              found.addAll(merge.locks(matching, List.copyOf(scanned), readable()));
              cursor = step.cursor();
              if (step.isLast() && scanning == node) {
                scanned.add(node);
                scanning = -1;
              }
            });
  }

  @Override
  public void close() {
    end(new IllegalStateException("the listing is closed"));
  }

  /** The client is closed. */
  void clientClosed() {
    end(new RedlockClosedException());
  }

  private void end(RuntimeException why) {
    synchronized (this) {
      if (end != null) {
        return;
      }
      end = why;
    }
    CompletableFuture<List<LockListing.Entry>> waiting = current;
    if (waiting != null) { // Its step may wait for a timer of a client that is closed.
      fail(waiting, why);
    }
    side.listings.remove(this);
  }
}
