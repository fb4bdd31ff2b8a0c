package dev.redlock.exhaustive;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Another way to number leases, which this project does not use: each node counts its grants with
 * INCR, and a client takes the highest number that a quorum returned. The scope is three attempts
 * and three nodes; each request arrives once or never. A key may expire at any time, so it may be
 * absent whenever a request arrives. Therefore the owner is not part of the state.
 */
final class Counters {
  private static final int NODES = 3;
  private static final int QUORUM = 2;
  private static final int ATTEMPTS = 3;
  private static final int HIGHEST = ATTEMPTS;

  private static final int IDLE = 0;
  private static final int ASKING = 1;
  private static final int OVER = 2;

  /** A stage above this is a lease; the difference is its token. */
  private static final int LEASE = 10;

  // The state is a list of numbers: for each node its count; for each attempt its stage, the
  // highest token granted before it began, and the reply of each node (0: none).
  private static final int PER_ATTEMPT = 2 + NODES;

  private final Map<List<Integer>, List<Integer>> from = new HashMap<>();
  private final ArrayDeque<List<Integer>> open = new ArrayDeque<>();
  private final Set<String> broken = new HashSet<>();
  private String firstHistory = "";

  /** The broken checks: {@code DISTINCT}, {@code ORDERED}. */
  Set<String> run() {
    List<Integer> start = new ArrayList<>();
    for (int n = 0; n < NODES; n++) {
      start.add(0);
    }
    for (int a = 0; a < ATTEMPTS; a++) {
      start.addAll(List.of(IDLE, 0));
      for (int n = 0; n < NODES; n++) {
        start.add(0);
      }
    }
    reach(List.of(), start);
    for (List<Integer> s = open.poll(); s != null && broken.size() < 2; s = open.poll()) {
      expand(s);
    }
    return broken;
  }

  int states() {
    return from.size();
  }

  String firstHistory() {
    return firstHistory;
  }

  private void expand(List<Integer> s) {
    for (int a = 0; a < ATTEMPTS; a++) {
      int at = NODES + PER_ATTEMPT * a;
      if (s.get(at) == IDLE) {
        List<Integer> next = new ArrayList<>(s);
        next.set(at, ASKING);
        next.set(at + 1, highestLease(s));
        reach(s, next);
      } else if (s.get(at) == ASKING) {
        List<Integer> givenUp = new ArrayList<>(s);
        givenUp.set(at, OVER);
        reach(s, givenUp);
        for (int n = 0; n < NODES; n++) {
          ask(s, at, n);
        }
        count(s, at);
      }
    }
  }

  private void ask(List<Integer> s, int at, int n) {
    if (s.get(at + 2 + n) != 0) {
      return;
    }
    List<Integer> next = new ArrayList<>(s);
    int counted = s.get(n) + 1;
    next.set(n, counted);
    next.set(at + 2 + n, counted);
    reach(s, next);
  }

  private void count(List<Integer> s, int at) {
    List<Integer> answers = s.subList(at + 2, at + 2 + NODES);
    if (answers.stream().filter(answer -> answer > 0).count() < QUORUM) {
      return;
    }
    int token = answers.stream().mapToInt(Integer::intValue).max().orElse(0);
    if (isLease(s, token)) {
      broken("DISTINCT", s, token);
    }
    if (token <= s.get(at + 1)) {
      broken("ORDERED", s, token);
    }
    List<Integer> won = new ArrayList<>(s);
    won.set(at, LEASE + token);
    reach(s, won);
  }

  private static boolean isLease(List<Integer> s, int token) {
    for (int a = 0; a < ATTEMPTS; a++) {
      if (s.get(NODES + PER_ATTEMPT * a) == LEASE + token) {
        return true;
      }
    }
    return false;
  }

  private static int highestLease(List<Integer> s) {
    for (int token = HIGHEST; token > 0; token--) {
      if (isLease(s, token)) {
        return token;
      }
    }
    return 0;
  }

  private void broken(String check, List<Integer> s, int token) {
    if (broken.add(check) && firstHistory.isEmpty()) {
      ArrayDeque<List<Integer>> states = new ArrayDeque<>();
      for (List<Integer> at = s; !at.isEmpty(); at = from.getOrDefault(at, List.of())) {
        states.addFirst(at);
      }
      firstHistory =
          states.stream()
              .map(List::toString)
              .collect(Collectors.joining("\n", check + ", token " + token + "\n", ""));
    }
  }

  private void reach(List<Integer> before, List<Integer> next) {
    if (from.putIfAbsent(next, before) == null) {
      open.add(next);
    }
  }
}
