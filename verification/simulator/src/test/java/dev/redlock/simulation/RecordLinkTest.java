package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus.State;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The record of the node set, between simulated nodes and their clients. */
class RecordLinkTest {
  private static World world(long seed, int given) {
    Scenario scenario = new Scenario(3, 3, Play.options().build(), Scenario.MS / 2, Scenario.MS);
    scenario.records = true;
    scenario.given = given;
    World world = new World(new Rng(seed), scenario, false);
    world.faults = false;
    for (SimClient client : world.clients) {
      client.start();
    }
    world.runUntil(world.now + 10 * Scenario.MS);
    return world;
  }

  private static NodeRecord.Change tell(long epoch) {
    NodeRecord record =
        new NodeRecord(
            "d1", "", epoch, List.of("n1", "n2"), List.of(), epoch, 0, 0, 1_000, 1_000, 0);
    return new NodeRecord.Change(NodeRecord.Change.Kind.TELL, record);
  }

  private static CompletableFuture<NodeRecord> change(SimLink link, long epoch) {
    CompletableFuture<NodeRecord> result = new CompletableFuture<>();
    link.client.soon(() -> link.change(tell(epoch), result));
    return result;
  }

  @Test
  void change_isKnownToItsClientWhenItIsDone_andToTheOthersSoon() {
    World world = world(1, 0);
    SimLink own = world.clients[0].links[0];
    SimLink other = world.clients[1].links[0];
    long number = other.status().connection();
    CompletableFuture<NodeRecord> result = change(own, 4);
    CompletableFuture<NodeRecord> known = result.thenApply(stored -> own.status().record());
    world.runUntil(world.now + 20 * Scenario.MS);
    assertThat(known.join()).isEqualTo(result.join()).isEqualTo(world.nodes[0].record());
    assertThat(other.status().record()).isEqualTo(world.nodes[0].record());
    assertThat(other.status().connection()).isGreaterThan(number);
    assertThat(other.status().state()).isEqualTo(State.VOTING);
    assertThat(own.node.record().epoch()).isEqualTo(4);
    assertThat(world.nodes[1].record()).isEqualTo(NodeRecord.NONE);
  }

  @Test
  void afterResetsCrashesAndChanges_allClientsKnowTheRecordOfEachNode() {
    for (long seed = 1; seed <= 200; seed++) {
      World world = world(seed, 0);
      Rng rng = new Rng(seed);
      for (long epoch = 1; epoch <= 60; epoch++) {
        SimLink link = rng.pick(world.clients).links[rng.below(3)];
        switch (rng.below(12)) {
          case 0 -> link.reset();
          case 1 -> link.stall(rng.between(1, 50) * Scenario.MS);
          case 2 -> link.node.crash(rng.pick(SimNode.KEPT_BY_A_SERVER), 20 * Scenario.MS);
          case 3 -> link.node.flush();
          case 4 -> link.node.pause(rng.between(1, 30) * Scenario.MS);
          default -> {
            var unused = change(link, epoch);
          }
        }
        world.runUntil(world.now + rng.between(0, 4) * Scenario.MS);
      }
      world.runUntil(world.now + 60 * Scenario.SECOND);
      for (SimClient client : world.clients) {
        for (SimLink link : client.links) {
          assertThat(link.isLive()).as("seed %s", seed).isTrue();
          assertThat(link.status().record()).as("seed %s", seed).isEqualTo(link.node.record());
        }
      }
    }
  }

  @Test
  void nodeThatClientsAreNotGiven_isReachedWhenItIsOpened() {
    World world = world(1, 2);
    SimLink third = world.clients[0].links[2];
    assertThat(third.status().state()).isEqualTo(State.CONNECTING);
    third.open();
    world.runUntil(world.now + 10 * Scenario.MS);
    assertThat(third.status().state()).isEqualTo(State.VOTING);
    third.shut();
    third.open();
    world.runUntil(world.now + Scenario.SECOND);
    assertThat(third.status().state()).isEqualTo(State.VOTING);
  }
}
