package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.redlock.lettuce.PubSubHints;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Release hints by publish and subscribe, over a connection that breaks and reconnects. */
@RedisTest(nodes = 1, gated = true)
class PubSubHintsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final int TOLD_IN_VAIN = 200;

  private final RedisNodes nodes;

  PubSubHintsIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void hints_whileTheNodeIsCutOff_areNotKeptUntilItIsBack() {
    Set<String> heard = ConcurrentHashMap.newKeySet();
    try (PubSubHints hints = PubSubHints.on(nodes.uris());
        PubSubHints besideTheGate = PubSubHints.on(List.of(nodes.get(0).directUri()))) {
      hints.start(name -> {});
      besideTheGate.start(heard::add);
      awaitHeard(hints, "before", heard);
      nodes.get(0).gate().cut();
      AtomicInteger told = new AtomicInteger();
      Eventually.holds(
          () -> {
            tell(hints, "in-vain-" + told.get());
            return told.incrementAndGet() == TOLD_IN_VAIN;
          },
          PATIENCE,
          nodes);
      nodes.get(0).gate().endFaults();
      awaitHeard(hints, "after", heard); // This hint comes after all that could have been kept.
      // The first few were sent before the client noticed the lost connection.
      assertThat(heard)
          .filteredOn(name -> name.startsWith("in-vain"))
          .hasSizeLessThan(TOLD_IN_VAIN / 2);
    }
  }

  @Test
  void channelIsRefused_theLogTellsForSubscribingAndForPublishing() {
    String uri = nodes.get(0).directUri();
    try (RedisClient admin = RedisClient.create(uri)) {
      admin
          .connect()
          .sync()
          .aclSetuser(
              "deaf", AclSetuserArgs.Builder.on().addPassword("x").allCommands().resetChannels());
    }
    try (CapturedLog log = new CapturedLog(Level.WARN, false);
        PubSubHints hints = PubSubHints.on(List.of(uri.replace("redis://", "redis://deaf:x@")))) {
      hints.start(name -> {});
      Eventually.holds(
          () ->
              log.events()
                  .map(event -> event.getFormattedMessage())
                  .anyMatch(line -> line.matches("node .*: no release hints yet: NOPERM .*")),
          PATIENCE,
          nodes);
      Eventually.holds(
          () -> {
            tell(hints, "refused");
            return log.events()
                .map(event -> event.getFormattedMessage())
                .anyMatch(line -> line.matches("a node refuses release hints .*: NOPERM .*"));
          },
          PATIENCE,
          nodes);
    }
  }

  private static void tell(PubSubHints hints, String name) {
    hints.ended(new ReleaseHints.Ended(List.of(name), 1, ReleaseHints.Reason.RELEASED));
  }

  private void awaitHeard(PubSubHints hints, String name, Set<String> heard) {
    Eventually.holds(
        () -> {
          tell(hints, name);
          return heard.contains(name);
        },
        PATIENCE,
        nodes);
  }
}
