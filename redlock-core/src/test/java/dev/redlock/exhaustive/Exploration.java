package dev.redlock.exhaustive;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A scope with all tokens there are. Nodes and clients only ever compare tokens with one another,
 * so for {@code n} attempts the numbers 1 to {@code n} are as good as all numbers, and only who is
 * above, below or equal to whom makes a difference. Clients differ in nothing but their tokens, so
 * it does not matter which client has which.
 *
 * @param states how many different ones were seen in which some attempt was yet to be decided
 * @param violation the first one found, with which the rest is left alone; or null
 */
record Exploration(
    int tokenOrders, long states, long transitions, long won, @Nullable String violation) {

  /** All of it. */
  static Exploration of(Scope scope) {
    return of(scope, Integer.MAX_VALUE);
  }

  /** Looks for a violation, a little way with all orders of tokens before it goes further. */
  static Exploration until(Scope scope) {
    for (int limit = 1 << 10; limit < 1 << 20; limit <<= 2) {
      Exploration e = of(scope, limit);
      if (e.violation() != null) {
        return e;
      }
    }
    return of(scope);
  }

  private static Exploration of(Scope scope, int limit) {
    List<int[]> orders = orders(scope.clients(), scope.attempts());
    AtomicReference<@Nullable String> violation = new AtomicReference<>();
    List<Search.Counts> searches =
        orders.parallelStream()
            .map(
                tokens -> {
                  Search search =
                      new Search(scope, tokens).run(limit, () -> violation.get() != null);
                  violation.compareAndSet(null, search.violation());
                  return search.counts();
                })
            .toList();
    return new Exploration(
        orders.size(),
        searches.stream().mapToLong(Search.Counts::states).sum(),
        searches.stream().mapToLong(Search.Counts::transitions).sum(),
        searches.stream().mapToLong(Search.Counts::won).sum(),
        violation.get());
  }

  /**
   * All ways to rank the attempts, ties included; one of those that differ in the clients' order.
   */
  static List<int[]> orders(int clients, int attempts) {
    List<int[]> orders = new ArrayList<>();
    collect(new int[clients * attempts], 0, attempts, orders);
    return orders;
  }

  private static void collect(int[] tokens, int at, int attempts, List<int[]> orders) {
    if (at == tokens.length) {
      if (isDense(tokens) && isSorted(tokens, attempts)) {
        orders.add(tokens.clone());
      }
      return;
    }
    for (int token = 1; token <= tokens.length; token++) {
      tokens[at] = token;
      collect(tokens, at + 1, attempts, orders);
    }
  }

  private static boolean isDense(int[] tokens) {
    int[] distinct = Arrays.stream(tokens).distinct().toArray();
    return Arrays.stream(tokens).max().orElse(0) == distinct.length;
  }

  private static boolean isSorted(int[] tokens, int attempts) {
    for (int i = attempts; i < tokens.length; i += attempts) {
      int[] left = Arrays.copyOfRange(tokens, i - attempts, i);
      int[] right = Arrays.copyOfRange(tokens, i, i + attempts);
      if (Arrays.compare(left, right) > 0) {
        return false;
      }
    }
    return true;
  }
}
