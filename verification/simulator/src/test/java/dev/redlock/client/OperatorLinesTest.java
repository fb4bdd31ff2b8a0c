package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the log of an application says, at its usual levels, of lost leases and of nodes. */
class OperatorLinesTest {
  private static final Duration WAIT = Duration.ofMinutes(1);
  private static final String ENDED = "ended while";

  private final CapturedLog log = new CapturedLog();
  private final VirtualNodes nodes = new VirtualNodes(3);

  @AfterEach
  void close() {
    nodes.close();
    log.close();
  }

  private Lease acquire(Redlock client, String name) {
    return acquire(client, name, client.defaultOptions());
  }

  private Lease acquire(Redlock client, String name, LockOptions options) {
    CompletableFuture<Lease> asked = client.lock(name, options).acquireAsync(WAIT);
    nodes.time().passUntil(asked::isDone, WAIT);
    return asked.join();
  }

  private void pass(Duration time) {
    nodes.time().pass(time);
  }

  private void breakLock(Redlock client, String name) {
    var broken = client.operations().breakLock(name).toCompletableFuture();
    nodes.time().passUntil(broken::isDone, WAIT);
  }

  @Test
  void lease_brokenByAnOperator_leavesOneWarningWithNameTokenCauseAndRemedy() {
    Lease lease = acquire(nodes.client(), "job");
    breakLock(nodes.client(), "job");
    pass(Duration.ofSeconds(30));
    assertThat(log.lines(Level.WARN, ENDED))
        .singleElement()
        .asString()
        .contains("[job]")
        .contains("token " + lease.fencingToken())
        .contains("LOST")
        .contains("Stop the work");
  }

  @Test
  void lease_thatCouldNotBeExtended_leavesOneWarning() {
    acquire(nodes.client(), "job");
    for (int i = 0; i < 3; i++) {
      nodes.node(i).hang();
    }
    pass(Duration.ofSeconds(60));
    assertThat(log.lines(Level.WARN, ENDED))
        .singleElement()
        .asString()
        .contains("EXPIRED")
        .contains("not extended in time");
  }

  @Test
  void lease_atItsHoldCap_leavesOneWarningWithTheCap() {
    Redlock client = nodes.client();
    LockOptions capped = client.defaultOptions().toBuilder().holdCap(Duration.ofMinutes(2)).build();
    Lease lease = acquire(client, "job", capped);
    pass(Duration.ofMinutes(5));
    assertThat(log.lines(Level.WARN, ENDED)).singleElement().asString().contains("cap of 2 min");
    assertThat(lease.isValid()).as("kept: a lease that nobody refers to is not extended").isFalse();
  }

  @Test
  void lease_whenTheWallClockIsSetForward_leavesOneWarningThatNamesTheClock() {
    Lease lease = acquire(nodes.client(), "job");
    nodes.time().suspend(Duration.ofSeconds(40));
    pass(Duration.ofSeconds(1));
    assertThat(lease.isValid()).isFalse();
    assertThat(log.lines(Level.WARN, ENDED))
        .singleElement()
        .asString()
        .contains("EXPIRED")
        // Of the two clocks one is read in whole milliseconds.
        .containsPattern("wall clock of this machine has gone 4000[01] ms further");
  }

  /** Its caller may have meant it to end by itself. */
  @Test
  void lease_withoutAutomaticExtension_leavesNoWarningWhenItExpires() {
    Redlock client = nodes.client();
    acquire(client, "job", client.defaultOptions().toBuilder().autoExtend(false).build());
    pass(Duration.ofSeconds(60));
    assertThat(log.lines(Level.WARN, ENDED)).isEmpty();
    assertThat(log.lines(Level.INFO, ENDED)).hasSize(1);
  }

  @Test
  void lease_releasedOrHandedOff_leavesNoLine() {
    Redlock client = nodes.client();
    Lease first = acquire(client, "job");
    CompletableFuture<Lease> next = client.lock("job").acquireAsync(WAIT);
    first.releaseAsync();
    nodes.time().passUntil(next::isDone, WAIT);
    next.join().releaseAsync();
    pass(Duration.ofSeconds(60));
    assertThat(log.lines(Level.WARN, ENDED)).isEmpty();
    assertThat(log.lines(Level.INFO, ENDED)).isEmpty();
  }

  @Test
  void leases_aThousandLostAtOnce_leaveFiveLinesAndTheNumberOfTheOthers() {
    Redlock client = nodes.client();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      leases.add(acquire(client, "job-" + i));
    }
    for (int i = 0; i < 3; i++) {
      nodes.node(i).flush();
    }
    nodes.time().suspend(Duration.ofSeconds(40)); // Even if the flush is noticed at once.
    pass(Duration.ofSeconds(30));
    assertThat(leases).noneMatch(Lease::isValid);
    List<String> lines = log.lines(Level.WARN, ENDED);
    assertThat(lines).hasSizeLessThanOrEqualTo(12); // Two causes at most.
    int others = lines.stream().mapToInt(OperatorLinesTest::others).sum();
    long single = lines.stream().filter(line -> others(line) == 0).count();
    assertThat(others + single).isEqualTo(1000);
    assertThat(log.traces()).isZero();
  }

  private static int others(String line) {
    return line.contains(" more ") ? Integer.parseInt(line.substring(0, line.indexOf(' '))) : 0;
  }

  @Test
  void quorum_lostAndFoundAgain_leavesOneErrorThatNamesTheNodes_andOneInformation() {
    nodes.client();
    nodes.node(0).kill();
    nodes.node(2).kill();
    pass(Duration.ofMinutes(10));
    assertThat(log.lines(Level.ERROR, ""))
        .singleElement()
        .asString()
        .startsWith("1 of 3 nodes vote, and 2 must: this client gets no new locks")
        .contains("node-0, node-2: CONNECTING: ")
        .doesNotContain("node-1");
    nodes.node(0).restart();
    pass(Duration.ofMinutes(1));
    assertThat(log.lines(Level.INFO, "gets locks again")).hasSize(1);
  }

  @Test
  void quorum_ofAMinorityThatFails_leavesNoLine() {
    nodes.client();
    nodes.node(0).kill();
    pass(Duration.ofMinutes(10));
    assertThat(log.lines(Level.ERROR, "")).isEmpty();
  }

  @Test
  void quorum_thatComesAndGoes_isLoggedSixTimesAMinuteAtMost() {
    nodes.client();
    for (int i = 0; i < 60; i++) {
      nodes.node(0).kill();
      nodes.node(1).kill();
      pass(Duration.ofSeconds(3));
      nodes.node(0).restart();
      nodes.node(1).restart();
      pass(Duration.ofSeconds(3));
    }
    assertThat(log.lines(Level.ERROR, "nodes vote")).hasSizeBetween(1, 6 * 6);
  }

  @Test
  void quorum_thatNeverVoted_leavesOneError() {
    for (int i = 0; i < 3; i++) {
      nodes.node(i).kill();
    }
    Redlock client = client(plain());
    pass(Duration.ofMinutes(10));
    assertThat(log.lines(Level.ERROR, "0 of 3 nodes vote")).hasSize(1);
    closeNow(client);
  }

  /** Masters that have just been started, as in each first try, need no operator. */
  @Test
  void quorum_inQuarantinesThatEnd_leavesOneInformation_andAnErrorOnlyIfTheyDoNot() {
    long until = nodes.time().nanos() + Duration.ofSeconds(20).toNanos();
    String cause = "started 1 s before";
    NodeStatus status = new NodeStatus(NodeStatus.State.QUARANTINED, 1, 0, until, cause);
    LockNode[] own = plain();
    Arrays.setAll(own, i -> in(status, own[i]));
    Redlock client = client(own);
    pass(Duration.ofSeconds(19));
    assertThat(log.lines(Level.ERROR, "")).isEmpty();
    assertThat(log.lines(Level.INFO, "0 of 3 nodes vote, and 2 must: they will in "))
        .singleElement()
        .asString()
        .containsOnlyOnce(cause);
    pass(Duration.ofMinutes(10));
    assertThat(log.lines(Level.ERROR, "0 of 3 nodes vote")).hasSize(1);
    closeNow(client);
  }

  @Test
  void node_withAnotherMaxLeaseTime_leavesOneError() {
    Redlock client =
        withNodeIn(NodeStatus.State.QUARANTINED, "its marker holds maxLeaseTime 20000 ms");
    pass(Duration.ofMinutes(10));
    assertThat(log.lines(Level.ERROR, "node node-0 does not vote"))
        .singleElement()
        .asString()
        .contains("maxLeaseTime");
    closeNow(client);
  }

  /** The password may be in the middle of a change, so the line comes only after a while. */
  @Test
  void node_thatRejectsThePasswordForLong_leavesOneError() {
    Redlock client =
        withNodeIn(NodeStatus.State.CONNECTING, "NOT_AUTHENTICATED: WRONGPASS invalid");
    pass(Duration.ofSeconds(20));
    assertThat(log.lines(Level.ERROR, "node-0")).isEmpty();
    pass(Duration.ofMinutes(10));
    assertThat(log.lines(Level.ERROR, "node node-0 does not vote"))
        .singleElement()
        .asString()
        .contains("WRONGPASS");
    closeNow(client);
  }

  /** A client, the first of whose nodes stays in this state. */
  private Redlock withNodeIn(NodeStatus.State state, String cause) {
    LockNode[] own = plain();
    own[0] = in(new NodeStatus(state, 1, 0, 0, cause), own[0]);
    return client(own);
  }

  private static LockNode in(NodeStatus status, LockNode node) {
    return new ForwardingLockNode(node) {
      @Override
      public NodeStatus status() {
        return status;
      }
    };
  }

  private LockNode[] plain() {
    LockNode[] own = new LockNode[3];
    Arrays.setAll(own, i -> nodes.node(i).another());
    return own;
  }

  private Redlock client(LockNode[] own) {
    return Redlock.builder()
        .nodes(own)
        .restartGuard(RestartGuard.OFF)
        .callbackExecutor(Runnable::run)
        .time(nodes.time())
        .build();
  }

  private void closeNow(Redlock client) {
    nodes.time().runAway();
    client.close();
  }

  @Test
  void refusal_ofAFuture_carriesNoTraceOfTheClientsInside() {
    acquire(nodes.client(), "job");
    CompletableFuture<Lease> asked = nodes.client().lock("job").acquireAsync(Duration.ofSeconds(1));
    nodes.time().passUntil(asked::isDone, WAIT);
    CompletionException failure = catchThrowableOfType(CompletionException.class, asked::join);
    assertThat(failure).hasCauseInstanceOf(LockTimeoutException.class);
    assertThat(failure.getCause().getStackTrace()).isEmpty();
  }

  @Test
  void refusal_ofAThread_hasTheTraceOfThatThread() {
    InMemoryLockNode node = InMemoryLockNode.create("a");
    var one = Redlock.builder().nodes(node.another()).restartGuard(RestartGuard.OFF);
    var two = Redlock.builder().nodes(node.another()).restartGuard(RestartGuard.OFF);
    try (Redlock holder = one.build();
        Redlock other = two.build();
        Lease lease = holder.lock("job").acquire(Duration.ofSeconds(20))) {
      assertThat(lease.isValid()).isTrue();
      assertThat(other.awaitReady(Duration.ofSeconds(20))).isTrue();
      LockTimeoutException failure =
          catchThrowableOfType(
              LockTimeoutException.class, () -> other.lock("job").acquire(Duration.ofMillis(50)));
      List<String> classes =
          Arrays.stream(failure.getStackTrace()).map(StackTraceElement::getClassName).toList();
      assertThat(classes).anyMatch(name -> name.startsWith(OperatorLinesTest.class.getName()));
      assertThat(classes).noneMatch(name -> name.contains("LockActor"));
      long inside =
          classes.stream().filter(name -> name.startsWith("dev.redlock.internal")).count();
      assertThat(inside).isLessThanOrEqualTo(4);
    }
  }
}
