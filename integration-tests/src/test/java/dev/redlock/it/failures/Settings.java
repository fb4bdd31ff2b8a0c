package dev.redlock.it.failures;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;

/**
 * The settings that harness and workers share.
 *
 * @param leaseTime the lease time of every lock, and the maxLeaseTime
 * @param guard whether the restart guard is on
 * @param majorityFirst whether an acquire asks a majority of the masters first
 */
record Settings(Duration leaseTime, boolean guard, boolean majorityFirst) {
  static final int MASTERS = 5;
  static final int QUORUM = 3;

  /** The lock that every worker requests all the time, and that protects the registers. */
  static final String HOT = "hot";

  Redlock client(List<String> masters, RedlockListener listener) {
    return Redlock.builder()
        .nodes(BlindNode.asConfigured(LettuceNodes.standalone(masters)))
        .defaults(LockOptions.builder().leaseTime(leaseTime).majorityFirst(majorityFirst).build())
        .maxLeaseTime(leaseTime)
        .restartGuard(guard ? RestartGuard.UPTIME : RestartGuard.OFF)
        .listener(listener)
        .build();
  }

  /** A client that looks, as {@code redlock doctor} does. */
  Redlock look(List<String> masters) {
    return Redlock.builder()
        .nodes(masters.toArray(String[]::new))
        .maxLeaseTime(leaseTime)
        .observer(true)
        .build();
  }

  /** How many of its masters must vote for the client; the set may change. */
  static int quorum(Redlock redlock) {
    return NodeState.members(redlock.operations().nodes()).size() / 2 + 1;
  }
}
