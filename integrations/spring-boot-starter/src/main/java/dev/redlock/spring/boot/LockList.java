package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import dev.redlock.operations.LockListing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/**
 * The locks of all clients, for the endpoint. Reads pages until there are enough locks, the listing
 * is over, a node cannot be read, or the time has passed; shows what was read until then.
 */
record LockList(Redlock redlock, long timeoutNanos) {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1000;

  /**
   * Lists the locks whose names match.
   *
   * @throws InvalidEndpointRequestException if the limit is not between 1 and 1,000
   */
  Map<String, Object> read(String pattern, @Nullable Integer limit) {
    int most = limit == null ? DEFAULT_LIMIT : limit;
    if (most < 1 || most > MAX_LIMIT) {
      String reason = "limit " + most + " must be between 1 and " + MAX_LIMIT;
      throw new InvalidEndpointRequestException(reason, reason);
    }
    List<LockListing.Entry> locks = new ArrayList<>();
    String error = null;
    boolean complete = false;
    try (LockListing listing = redlock.operations().list(pattern)) {
      complete = fill(locks, most, listing);
    } catch (TimeoutException e) {
      error = "the time of " + TimeUnit.NANOSECONDS.toSeconds(timeoutNanos) + " s has passed";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      error = "interrupted";
    } catch (ExecutionException | CompletionException e) {
      error = String.valueOf(e.getCause() == null ? e : e.getCause().getMessage());
    }
    Map<String, Object> view = new LinkedHashMap<>();
    view.put("pattern", pattern);
    view.put("locks", locks.stream().limit(most).map(LockList::view).toList());
    view.put("complete", complete && locks.size() <= most);
    if (error != null) {
      view.put("error", error);
    }
    return view;
  }

  /** Whether the listing is over. A lock beyond the limit shows that there are more. */
  private boolean fill(List<LockListing.Entry> locks, int most, LockListing listing)
      throws InterruptedException, ExecutionException, TimeoutException {
    long start = System.nanoTime();
    while (locks.size() <= most) {
      long left = timeoutNanos - (System.nanoTime() - start);
      List<LockListing.Entry> page =
          listing.next().toCompletableFuture().get(left, TimeUnit.NANOSECONDS);
      if (page.isEmpty()) {
        return true;
      }
      locks.addAll(page);
    }
    return false;
  }

  private static Map<String, Object> view(LockListing.Entry lock) {
    Map<String, Object> view = new LinkedHashMap<>();
    view.put("name", lock.name());
    view.put("holder", lock.holder());
    if (lock.holderLabel() != null) {
      view.put("label", lock.holderLabel());
    }
    view.put("remainingMillis", lock.remaining().toMillis());
    view.put("highestTokenSeen", lock.highestTokenSeen());
    view.put("storedBy", lock.storedBy());
    if (!lock.waiting().isEmpty()) {
      view.put("waiting", lock.waiting());
    }
    return view;
  }
}
