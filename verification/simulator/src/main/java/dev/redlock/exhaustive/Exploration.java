package dev.redlock.exhaustive;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A scope with all possible tokens. Nodes and clients only compare tokens with one another, so for
 * {@code n} attempts the numbers 1 to {@code n} represent all numbers; only their ranking matters.
 * Clients differ in nothing but their tokens, so it does not matter which client has which.
 *
 * @param states how many different states were seen in which some attempt was undecided
 * @param violation the first violation, which ends the search; or null
 */
record Exploration(
    int tokenOrders, long states, long transitions, long won, @Nullable String violation) {

  /** Searches the whole scope. */
  static Exploration of(Scope scope) {
    return of(scope, Integer.MAX_VALUE);
  }

  /** Searches for a violation, first with a small limit of states for each ranking of tokens. */
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
    List<int[]> rankings = rankings(scope.clients(), scope.attempts());
    AtomicReference<@Nullable String> violation = new AtomicReference<>();
    List<Search.Counts> searches =
        rankings.parallelStream()
            .map(
                tokens -> {
                  Search search =
                      new Search(scope, tokens).run(limit, () -> violation.get() != null);
                  violation.compareAndSet(null, search.violation());
                  return search.counts();
                })
            .toList();
    return new Exploration(
        rankings.size(),
        searches.stream().mapToLong(Search.Counts::states).sum(),
        searches.stream().mapToLong(Search.Counts::transitions).sum(),
        searches.stream().mapToLong(Search.Counts::won).sum(),
        violation.get());
  }

  /**
   * All rankings of the attempts, ties included; one of each set that differs only in the order of
   * the clients.
   */
  static List<int[]> rankings(int clients, int attempts) {
    List<int[]> rankings = new ArrayList<>();
    collect(new int[clients * attempts], 0, attempts, rankings);
    return rankings;
  }

  private static void collect(int[] tokens, int at, int attempts, List<int[]> rankings) {
    if (at == tokens.length) {
      if (isDense(tokens) && isSorted(tokens, attempts)) {
        rankings.add(tokens.clone());
      }
      return;
    }
    for (int token = 1; token <= tokens.length; token++) {
      tokens[at] = token;
      collect(tokens, at + 1, attempts, rankings);
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
