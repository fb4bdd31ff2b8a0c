package dev.redlock.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.lettuce.internal.scripts.Wire;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.NodeState.State;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes are switched to another version of keys and scripts while clients run. */
@RedisTest(nodes = 3)
class WireVersionIT {
  private static final int CLIENTS = 3;
  private static final Duration LONGEST = Duration.ofSeconds(2);

  private static final Duration OUT = RestartGuard.guardTime(LONGEST).plusSeconds(10);

  private static final String NAME = "switched";

  private final RedisNodes nodes;
  private final List<Redlock> clients = new ArrayList<>();

  WireVersionIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @AfterEach
  void close() {
    clients.forEach(Redlock::close);
  }

  private Redlock client(RedlockBuilder builder) {
    Redlock client = builder.maxLeaseTime(LONGEST).restartGuard(RestartGuard.OFF).build();
    clients.add(client);
    Clients.voting(client, nodes.size());
    return client;
  }

  private SecondVersion[] ofBoth() {
    return nodes.stream().map(node -> new SecondVersion(node.uri())).toArray(SecondVersion[]::new);
  }

  private static State state(Redlock client, int node) {
    return client.operations().nodes().get(node).state();
  }

  /** Callers of all clients enter one section; it sees overlaps and falling tokens. */
  private static final class Fleet implements AutoCloseable {
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<CompletableFuture<Void>> callers = new ArrayList<>();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong lastToken = new AtomicLong();
    final AtomicInteger entered = new AtomicInteger();
    final AtomicInteger overlaps = new AtomicInteger();
    final AtomicInteger fallen = new AtomicInteger();

    Fleet(List<Redlock> clients) {
      for (Redlock client : clients) {
        for (int i = 0; i < 2; i++) {
          callers.add(CompletableFuture.runAsync(() -> run(client), Fleet::start));
        }
      }
    }

    private static void start(Runnable task) {
      new Thread(task, "caller").start();
    }

    private void run(Redlock client) {
      while (!stop.get()) {
        try (Lease lease = client.lock(NAME).acquire(Duration.ofSeconds(20))) {
          overlaps.addAndGet(inside.getAndIncrement() == 0 ? 0 : 1);
          long token = lease.fencingToken().value();
          fallen.addAndGet(lastToken.getAndAccumulate(token, Math::max) < token ? 0 : 1);
          entered.incrementAndGet();
          LockSupport.parkNanos(20_000);
          inside.decrementAndGet();
        }
      }
    }

    @Override
    public void close() throws Exception {
      stop.set(true);
      for (CompletableFuture<Void> caller : callers) {
        caller.get(30, SECONDS);
      }
    }
  }

  @Test
  @Tag("thorough")
  void nodesAreSwitchedOneAfterAnother_whileAFleetRuns_andNoTwoHoldTheLock() throws Exception {
    SecondVersion[] operator = ofBoth();
    List<Redlock> both = new ArrayList<>(List.of(client(Redlock.builder().nodes(operator))));
    while (both.size() < CLIENTS) {
      both.add(client(Redlock.builder().nodes(ofBoth())));
    }
    Redlock ofFirst = client(Redlock.builder().nodes(nodes.uris().toArray(String[]::new)));

    try (Fleet fleet = new Fleet(both)) {
      for (int i = 0; i < nodes.size(); i++) {
        int node = i;
        int before = fleet.entered.get();
        long start = System.nanoTime();
        assertThat(operator[i].switchTo(SecondVersion.WIRE).toCompletableFuture().get(5, SECONDS))
            .isTrue();
        Eventually.holds(
            () -> both.stream().allMatch(one -> state(one, node) == State.QUARANTINED), nodes);
        Eventually.holds(
            () -> both.stream().allMatch(one -> state(one, node) == State.VOTING), OUT, nodes);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
            .isGreaterThan(RestartGuard.guardTime(LONGEST));
        assertThat(fleet.entered.get() - before).as("sections meanwhile").isGreaterThan(100);
        NodeState refused = ofFirst.operations().nodes().get(i);
        assertThat(refused.state()).isEqualTo(State.QUARANTINED);
        assertThat(refused.cause())
            .isEqualTo(
                "its marker says wire version 2, and this client speaks version 1:"
                    + " update this client");
        if (i == 0) {
          ofFirst.lock("other").acquire(Duration.ofSeconds(5)).close(); // Two nodes are a quorum.
        }
      }
      fleet.close();
      System.out.printf(
          "switch of the wire version: sections=%d overlaps=%d fallenTokens=%d%n",
          fleet.entered.get(), fleet.overlaps.get(), fleet.fallen.get());
      assertThat(fleet.overlaps).hasValue(0);
      assertThat(fleet.fallen).hasValue(0);
    }
    assertThatThrownBy(() -> ofFirst.lock(NAME).acquire(Duration.ofSeconds(1)))
        .isInstanceOf(QuorumUnavailableException.class)
        .hasMessageContaining("wire version 2");
    assertThat(nodes.stream().map(node -> node.command("HGET", "redlock:%node", "wire")))
        .containsOnly("2");
    both.get(0).lock("new").acquire(Duration.ofSeconds(5)).close();
    RedisNode any = nodes.get(0);
    Eventually.holds(
        () ->
            String.valueOf(any.command("GET", Clients.lockKey("new") + ":fence"))
                .endsWith(SecondVersion.FIELD),
        nodes);
    assertThat(nodes.stream().flatMap(node -> node.keys().stream()))
        .as("queues of both versions")
        .anyMatch(key -> key.name().startsWith(Clients.lockKey(NAME) + ":2:"));
  }

  @Test
  void switchedNode_isSwitchedOnce_andAnEmptyOneNot() throws Exception {
    SecondVersion[] operator = ofBoth();
    client(Redlock.builder().nodes(operator));
    RedisNode first = nodes.get(0);
    assertThat(operator[0].switchTo(SecondVersion.WIRE).toCompletableFuture().get(5, SECONDS))
        .isTrue();
    Object since = first.command("HGET", "redlock:%node", "wireSince");
    assertThat(operator[0].switchTo(SecondVersion.WIRE).toCompletableFuture().get(5, SECONDS))
        .isFalse();
    assertThat(first.command("HGET", "redlock:%node", "wireSince")).isEqualTo(since);
    assertThat(operator[1].switchTo(Wire.FIRST).toCompletableFuture().get(5, SECONDS)).isFalse();
  }
}
