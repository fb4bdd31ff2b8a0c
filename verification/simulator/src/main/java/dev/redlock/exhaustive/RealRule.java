package dev.redlock.exhaustive;

import dev.redlock.harness.model.NodeModel;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The executable specification of the scripts, {@link NodeModel}, as a table: the effect of each
 * request in every reachable state. So the search runs the specification itself, at the cost of a
 * table access.
 *
 * <p>The table assumes that a state is only owner, fence and ended. The constructor checks this:
 * each time it reaches a state again on another path, it sends all requests to that node and
 * compares the results with the table.
 */
final class RealRule implements NodeRule {
  /** Tokens are microseconds; all of them lie within the window of the node's clock. */
  private static final long NOW_MICROS = 1_000_000_000_000L;

  private static final long TTL_MILLIS = 30_000;
  private static final LockKeys KEYS = LockKeys.of("exhaustive", List.of("name"));
  private static final String KEY = KEYS.lockKey(0);

  private final List<Request> requests;
  private final Map<Request, Integer> rows = new HashMap<>();
  private final int[][] table;
  private final boolean[] known = new boolean[PLAIN_STATES];
  private int reached;
  private int executed;

  RealRule() {
    requests = requests();
    for (Request request : requests) {
      rows.put(request, rows.size());
    }
    table = new int[requests.size()][PLAIN_STATES];
    ArrayDeque<NodeModel> open = new ArrayDeque<>();
    add(new NodeModel(120_000), open);
    for (NodeModel node = open.poll(); node != null; node = open.poll()) {
      for (Request request : requests) {
        NodeModel next = node.copy();
        next.execute(wire(request), 1, 1, NOW_MICROS);
        add(next, open);
      }
      NodeModel next = node.copy();
      next.delete(KEY);
      add(next, open);
    }
  }

  private void add(NodeModel node, ArrayDeque<NodeModel> open) {
    int state = read(node);
    boolean first = !known[state];
    for (int i = 0; i < requests.size(); i++) {
      NodeModel copy = node.copy();
      NodeReply reply = copy.execute(wire(requests.get(i)), 1, 1, NOW_MICROS);
      executed++;
      int result = read(copy) | (reply.code() == Code.GRANTED ? GRANTED : 0);
      if (first) {
        table[i][state] = result;
      } else if (table[i][state] != result) {
        throw new IllegalStateException(
            "a node is more than %s: %s".formatted(NodeRule.describe(state), requests.get(i)));
      }
    }
    if (first) {
      known[state] = true;
      reached++;
      open.add(node);
    }
  }

  private static int read(NodeModel node) {
    @Nullable String owner = node.owner(KEY, NOW_MICROS);
    return NodeRule.state(
        owner == null ? 0 : Integer.parseInt(owner),
        rank(node.fence(KEY, NOW_MICROS)),
        rank(node.ended(KEY, NOW_MICROS)));
  }

  private static int rank(long token) {
    return token == 0 ? 0 : (int) (token - NOW_MICROS);
  }

  private static long token(int rank) {
    return rank == 0 ? 0 : NOW_MICROS + rank;
  }

  private static LockRequest wire(Request r) {
    String id = String.valueOf(r.id());
    long token = token(r.token());
    return switch (r.kind()) {
      case ACQUIRE -> new LockRequest.Acquire(KEYS, id, token, TTL_MILLIS, null);
      case EXTEND -> new LockRequest.Extend(KEYS, id, token, TTL_MILLIS);
      case RELEASE -> new LockRequest.Release(KEYS, id, token, true, 0, null);
      case ROLL_BACK -> new LockRequest.Release(KEYS, id, token, false, 0, null);
    };
  }

  /** All requests of a search. */
  private static List<Request> requests() {
    List<Request> all = new ArrayList<>();
    for (int id = 1; id <= TOP; id++) {
      for (int token = 1; token <= TOP; token++) {
        for (Kind kind : Kind.values()) {
          all.add(new Request(kind, id, token));
        }
      }
    }
    return all;
  }

  @Override
  public int step(int state, Request request) {
    Integer row = rows.get(request);
    if (row == null || !isReachable(state)) {
      throw new IllegalArgumentException(NodeRule.describe(state) + " " + request);
    }
    return table[row][state];
  }

  boolean isReachable(int state) {
    return state < PLAIN_STATES && known[state];
  }

  List<Request> all() {
    return requests;
  }

  int reached() {
    return reached;
  }

  int executed() {
    return executed;
  }
}
