package dev.redlock.redis.internal;

import dev.redlock.internal.text.Printable;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the operator of one node should know: its changes of state, and what makes it unsafe. Owns
 * what was logged already, so that each fact is logged once, not with every retry.
 */
public final class OperatorLog {
  /** Users set its level by this name, which is that of the node that they make. */
  public static final Logger log = LoggerFactory.getLogger("dev.redlock.lettuce.LettuceLockNode");

  private final String node;
  private final boolean clustered;

  // Guarded by this.
  private boolean lost; // A loss was logged, and no connection since.
  private boolean erring;
  private String reportedRun = "";

  public OperatorLog(String node, boolean clustered) {
    this.node = node;
    this.clustered = clustered;
  }

  /**
   * The client is going to connect.
   *
   * @param weakness why another server may answer; empty if none can
   */
  public void onStart(String weakness) {
    if (!weakness.isEmpty()) {
      log.warn("node {}: {}", node, weakness);
    }
  }

  /**
   * The connection ended.
   *
   * @param planned whether the client replaces it
   */
  public void onLost(NodeError why, boolean planned) {
    synchronized (this) {
      erring = false; // A new connection begins without errors.
      if (lost) {
        return;
      }
      lost = true;
    }
    if (planned) {
      log.info("node {}: {}", node, why.message());
    } else {
      log.warn("node {}: {}; the client tries to connect until it succeeds", node, why);
    }
  }

  /** Logs the end of a loss, and once for each run of the server what it is and lacks. */
  public void onProbed(@Nullable NodeIdentity known, List<String> refused) {
    String run = known == null ? "unknown" : known.runId();
    boolean recovered;
    boolean reported;
    synchronized (this) {
      recovered = lost;
      lost = false;
      reported = reportedRun.equals(run);
      reportedRun = run;
    }
    if (!reported) {
      refused.forEach(what -> log.warn("node {}: {}", node, what));
      if (known != null) {
        report(known);
      }
    }
    if (recovered) {
      log.info("node {}: connected again", node);
    }
  }

  private void report(NodeIdentity known) {
    log.info(
        "node {}: {} {}, up for {}",
        node,
        known.product(),
        known.version(),
        known.uptimeSeconds() < 0 ? "an unknown time" : known.uptimeSeconds() + " s");
    if (!known.maxmemoryPolicy().equals("noeviction")) {
      log.warn(
          "node {}: maxmemory-policy is {}: the server may evict locks; set noeviction",
          node,
          known.maxmemoryPolicy());
    }
    if (known.connectedReplicas() > 0 && !clustered) {
      log.warn(
          "node {}: {} replicas are attached: after a promotion locks may be granted twice",
          node,
          known.connectedReplicas());
    }
  }

  public void onTrial(@Nullable String error) {
    synchronized (this) {
      if (erring == (error != null)) {
        return;
      }
      erring = error != null;
    }
    if (error != null) {
      log.warn("node {}: the server replies with errors: {}", node, error);
    } else {
      log.info("node {}: the server executes requests again", node);
    }
  }

  void onStatus(NodeStatus before, NodeStatus now, long leftNanos) {
    if (now.state() == State.QUARANTINED) {
      String left =
          now.untilNanos() == 0
              ? "until that changes"
              : "for another " + Printable.about(Duration.ofNanos(leftNanos));
      log.info("node {}: does not vote {}: {}", node, left, now.cause());
    } else if (now.state() == State.VOTING && before.state() == State.QUARANTINED) {
      log.info("node {}: votes again", node);
    }
  }
}
