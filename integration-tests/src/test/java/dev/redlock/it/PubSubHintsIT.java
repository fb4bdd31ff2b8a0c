package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.redlock.lettuce.PubSubHints;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
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
    addUserWithoutChannels();
    try (CapturedLog log = new CapturedLog(Level.WARN, false);
        PubSubHints hints = PubSubHints.on(List.of(deaf(nodes.get(0).directUri())))) {
      hints.start(name -> {});
      awaitLine(log, "node .*: no release hints yet: NOPERM .*", () -> {});
      awaitLine(log, "a node refuses release hints .*: NOPERM .*", () -> tell(hints, "refused"));
    }
  }

  @Test
  void channelIsRefused_afterTheCommandWasRefused_theLogTellsBoth() {
    addUserWithoutChannels();
    setDeaf(AclSetuserArgs.Builder.removeCommand(CommandType.SUBSCRIBE));
    try (CapturedLog log = new CapturedLog(Level.WARN, false);
        PubSubHints hints = PubSubHints.on(List.of(deaf(nodes.get(0).directUri())))) {
      hints.start(name -> {});
      awaitLine(log, "node .*: no release hints yet: NOPERM .*'subscribe' command.*", () -> {});
      setDeaf(AclSetuserArgs.Builder.addCommand(CommandType.SUBSCRIBE));
      awaitLine(log, "node .*: no release hints yet: NOPERM .*channel.*", () -> {});
    }
  }

  @Test
  void close_whileANodeDoesNotAnswer_logsNothing() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        CapturedLog log = new CapturedLog(Level.WARN, false)) {
      PubSubHints hints = PubSubHints.on(List.of("redis://127.0.0.1:" + silent.getLocalPort()));
      hints.start(name -> {});
      int patience = (int) PATIENCE.toMillis();
      silent.setSoTimeout(patience);
      try (Socket one = silent.accept();
          Socket other = silent.accept()) {
        one.setSoTimeout(patience);
        other.setSoTimeout(patience);
        hints.close();
        one.getInputStream().readAllBytes(); // Until the client has disconnected.
        other.getInputStream().readAllBytes();
      }
      assertThat(lines(log)).isEmpty();
    }
  }

  private void addUserWithoutChannels() {
    setDeaf(AclSetuserArgs.Builder.on().addPassword("x").allCommands().resetChannels());
  }

  private void setDeaf(AclSetuserArgs rules) {
    try (RedisClient admin = RedisClient.create(nodes.get(0).directUri())) {
      admin.connect().sync().aclSetuser("deaf", rules);
    }
  }

  private static String deaf(String uri) {
    return uri.replace("redis://", "redis://deaf:x@");
  }

  private void awaitLine(CapturedLog log, String pattern, Runnable before) {
    try {
      Eventually.holds(
          () -> {
            before.run();
            return lines(log).stream().anyMatch(line -> line.matches(pattern));
          },
          PATIENCE,
          nodes);
    } catch (AssertionError e) {
      throw new AssertionError("no line " + pattern + " in " + lines(log), e);
    }
  }

  private static List<String> lines(CapturedLog log) {
    return log.events().map(event -> event.getFormattedMessage()).toList();
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
