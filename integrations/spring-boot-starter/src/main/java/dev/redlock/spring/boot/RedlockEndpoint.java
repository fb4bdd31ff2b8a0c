package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import dev.redlock.operations.LockInspection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The leases of this client, the locks of all clients, and the state that the nodes store for a
 * name.
 */
@Endpoint(id = "redlock")
public class RedlockEndpoint {
  /** Longer than the longest node timeout; the client answers within that. */
  private static final long SECONDS = 10;

  private static final int FORBIDDEN = 403;

  private final Redlock redlock;
  private final HeldLeases held;
  private final boolean breakEnabled;

  RedlockEndpoint(Redlock redlock, HeldLeases held, boolean breakEnabled) {
    this.redlock = redlock;
    this.held = held;
    this.breakEnabled = breakEnabled;
  }

  /**
   * The nodes, and the leases that this client holds; sends nothing. With a pattern, the locks of
   * all clients instead; see {@link dev.redlock.operations.Operations#list}.
   *
   * @param pattern of the names; null for the state of this client
   * @param limit how many locks at most: 1 to 1,000; null for 100
   */
  @ReadOperation
  public Map<String, Object> list(@Nullable String pattern, @Nullable Integer limit) {
    if (pattern != null) {
      return new LockList(redlock, TimeUnit.SECONDS.toNanos(SECONDS)).read(pattern, limit);
    }
    Map<String, Object> nodes = new LinkedHashMap<>();
    redlock.operations().nodes().forEach(node -> nodes.put(node.node(), NodeDetails.of(node)));
    return Map.of("nodes", nodes, "held", held.list());
  }

  /** What each node stores for the name. The name may have slashes. */
  @ReadOperation
  public Map<String, Object> inspect(@Selector(match = Match.ALL_REMAINING) String... name) {
    return view(name, redlock.operations()::inspect);
  }

  /**
   * Takes the lock from its holder; see {@link dev.redlock.operations.Operations#breakLock}.
   *
   * @return what was stored; without {@code redlock.endpoint.break-enabled} a refusal that says
   *     which property allows it
   */
  @DeleteOperation
  public Object breakLock(@Selector(match = Match.ALL_REMAINING) String... name) {
    if (breakEnabled) {
      return view(name, redlock.operations()::breakLock);
    }
    String error = "redlock.endpoint.break-enabled is false: this endpoint does not break locks";
    return new WebEndpointResponse<>(
        Map.of("name", String.join("/", name), "error", error), FORBIDDEN);
  }

  private static Map<String, Object> view(
      String[] path, Function<String, CompletionStage<LockInspection>> request) {
    String name = String.join("/", path);
    CompletionStage<LockInspection> reply;
    try {
      reply = request.apply(name);
    } catch (IllegalArgumentException e) {
      String reason = String.valueOf(e.getMessage());
      throw new InvalidEndpointRequestException("name '" + name + "': " + reason, reason, e);
    }
    return view(inTime(reply.toCompletableFuture()));
  }

  /** Not by {@code orTimeout}: its thread would keep the class loader of its maker for ever. */
  private static LockInspection inTime(CompletableFuture<LockInspection> reply) {
    try {
      return reply.get(SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new CompletionException(e);
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompletionException(e);
    }
  }

  private static Map<String, Object> view(LockInspection inspection) {
    List<Map<String, Object>> nodes = new ArrayList<>();
    for (LockInspection.NodeView node : inspection.nodes()) {
      Map<String, Object> view = new LinkedHashMap<>();
      view.put("node", node.node());
      view.put("state", node.state());
      if (node.holder() != null) {
        view.put("holder", node.holder());
      }
      if (node.holderLabel() != null) {
        view.put("label", node.holderLabel());
      }
      if (node.remaining() != null) {
        view.put("remainingMillis", node.remaining().toMillis());
      }
      view.put("highestTokenSeen", node.highestTokenSeen());
      if (node.error() != null) {
        view.put("error", node.error());
      }
      nodes.add(view);
    }
    return Map.of("name", inspection.name(), "quorum", inspection.quorum(), "nodes", nodes);
  }
}
