package dev.redlock.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.SetProgress;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The set of nodes changes while clients run. The guard time is 7 s here. */
class SetChangeIT {
  private static final Duration LONGEST = Duration.ofSeconds(2);

  private RedisNodes nodes;
  private final List<Redlock> clients = new ArrayList<>();

  @BeforeEach
  void start() {
    nodes = RedisNodes.start(5);
  }

  @AfterEach
  void close() {
    clients.forEach(Redlock::close);
    nodes.close();
  }

  private Redlock client(int... which) {
    return client(IntStream.of(which).mapToObj(i -> nodes.get(i).uri()).toArray(String[]::new));
  }

  private Redlock client(String... uris) {
    Redlock client =
        Redlock.builder().nodes(uris).maxLeaseTime(LONGEST).restartGuard(RestartGuard.OFF).build();
    clients.add(client);
    return client;
  }

  private String name(int node) {
    return nodes.get(node).uri().replace("redis://", "");
  }

  private static List<String> members(Redlock client) {
    return client.operations().nodes().stream()
        .filter(node -> node.state() == NodeState.State.VOTING && node.record() != null)
        .map(NodeState::record)
        .findFirst()
        .map(NodeRecord::members)
        .orElse(List.of());
  }

  private List<String> names(int... which) {
    return IntStream.of(which).mapToObj(this::name).sorted().toList();
  }

  private void awaitMembers(Redlock client, int... which) {
    Eventually.holds(
        () -> members(client).equals(names(which)) && Clients.votes(client) >= which.length,
        Duration.ofSeconds(20),
        () -> client.operations().nodes() + "\n" + nodes.describe());
  }

  /** Acquires and releases for as long as it is not told to stop; measures the longest gap. */
  private static final class Busy implements AutoCloseable {
    private final AtomicBoolean stop = new AtomicBoolean();
    private final CompletableFuture<Duration> longestGap = new CompletableFuture<>();

    Busy(Redlock client, String name) {
      Thread thread =
          new Thread(
              () -> {
                long last = System.nanoTime();
                long longest = 0;
                while (!stop.get()) {
                  try (Lease lease = client.lock(name).acquire(Duration.ofSeconds(20))) {
                    longest = Math.max(longest, System.nanoTime() - last);
                    last = System.nanoTime();
                  } catch (RuntimeException e) {
                    // A single attempt may fail; the gap counts.
                  }
                }
                longestGap.complete(Duration.ofNanos(longest));
              });
      thread.setDaemon(true);
      thread.start();
    }

    Duration longestGap() throws Exception {
      stop.set(true);
      return longestGap.get(30, SECONDS);
    }

    @Override
    public void close() {
      stop.set(true);
    }
  }

  /** It reads the records again and again. */
  @Test
  void clientWithoutInvalidations_followsAChange_andAcquiresAllTheWhile() throws Exception {
    String[] plain = new String[5];
    for (int i = 0; i < plain.length; i++) {
      nodes
          .get(i)
          .command("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-client");
      plain[i] = nodes.get(i).uri().replace("redis://", "redis://plain:secret@");
    }
    Redlock operator = client(0, 1, 2);
    Redlock other = client(plain[0], plain[1], plain[2]);
    awaitMembers(operator, 0, 1, 2);
    awaitMembers(other, 0, 1, 2);
    assertThat(other.operations().doctor().toCompletableFuture().get(10, SECONDS).toString())
        .contains("sends no invalidations");
    try (Busy busy = new Busy(other, "busy")) {
      Clients.done(operator.operations().addNode(nodes.get(3).uri(), step -> {}));
      awaitMembers(other, 0, 1, 2, 3);
      assertThat(busy.longestGap()).isLessThan(Duration.ofSeconds(5));
    }
  }

  @Test
  @Tag("thorough")
  void oneMaster_becomesThree_andOneAgain() throws Exception {
    Redlock operator = client(0);
    Redlock other = client(0);
    awaitMembers(other, 0);
    for (int node : new int[] {1, 2}) {
      Clients.done(operator.operations().addNode(nodes.get(node).uri(), step -> {}));
    }
    awaitMembers(other, 0, 1, 2);
    try (Lease lease = other.lock("x").acquire(Duration.ofSeconds(5))) {
      assertThat(operator.lock("x").tryAcquire()).isEmpty();
      for (int node : new int[] {0, 2}) {
        Clients.done(operator.operations().removeNode(name(node), step -> {}));
      }
      awaitMembers(other, 1);
      assertThat(operator.lock("x").tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void databasesOfTheSameServers_areAComplaint() throws Exception {
    Redlock first = client(0, 1, 2);
    awaitMembers(first, 0, 1, 2);
    Redlock second =
        client(
            IntStream.range(0, 3).mapToObj(i -> nodes.get(i).uri() + "/1").toArray(String[]::new));
    assertThat(second.awaitReady(Duration.ofSeconds(10))).isTrue();
    assertThat(second.operations().doctor().toCompletableFuture().get(10, SECONDS).nodes())
        .hasSize(3)
        .allSatisfy(
            node ->
                assertThat(node.complaints())
                    .contains(
                        "database 0 of this server has locks with the same key prefix: clients that"
                            + " use different databases do not exclude each other"));
  }

  @Test
  void otherKeyPrefix_isASeparateSet() {
    Redlock first = client(0, 1, 2);
    awaitMembers(first, 0, 1, 2);
    Redlock second =
        Redlock.builder()
            .nodes(nodes.get(0).uri(), nodes.get(3).uri(), nodes.get(4).uri())
            .keyPrefix("other")
            .maxLeaseTime(LONGEST)
            .restartGuard(RestartGuard.OFF)
            .build();
    clients.add(second);
    awaitMembers(second, 0, 3, 4);
    try (Lease lease = first.lock("x").acquire(Duration.ofSeconds(5));
        Lease other = second.lock("x").acquire(Duration.ofSeconds(5))) {
      assertThat(lease.isValid() && other.isValid()).isTrue();
    }
  }

  private Redlock client(Duration longest) {
    Redlock client =
        Redlock.builder()
            .nodes(nodes.get(0).uri(), nodes.get(1).uri(), nodes.get(2).uri())
            .maxLeaseTime(longest)
            .restartGuard(RestartGuard.OFF)
            .build();
    clients.add(client);
    return client;
  }

  private static void change(Redlock operator, Duration longest) throws Exception {
    Clients.done(operator.operations().changeMaxLeaseTime(longest, step -> {}));
  }

  @Test
  @Tag("thorough")
  void longestLeaseTime_isRaisedAndLowered_whileLeasesAreHeld() throws Exception {
    Duration longer = LONGEST.plusSeconds(1);
    Redlock shortOne = client(LONGEST);
    awaitMembers(shortOne, 0, 1, 2);
    Redlock longOne = client(longer);
    Eventually.holds(
        () ->
            longOne.operations().nodes().stream()
                .allMatch(
                    node ->
                        node.cause()
                            .startsWith(
                                "its record holds maxLeaseTime 2000 ms, and this client uses 3000"
                                    + " ms")),
        nodes);
    Lease held = shortOne.lock("held").acquire(Duration.ofSeconds(5));
    try (Busy busy = new Busy(shortOne, "busy")) {
      change(shortOne, longer);
      awaitMembers(longOne, 0, 1, 2);
      longOne.lock("long").acquire(Duration.ofSeconds(5)).close();
      assertThatThrownBy(() -> change(longOne, LONGEST))
          .rootCause()
          .hasMessage(
              "this client uses maxLeaseTime 3000 ms, which is longer than 2000 ms: lower that of"
                  + " all clients first");
      change(shortOne, LONGEST);
      Eventually.holds(
          () ->
              longOne.operations().nodes().stream()
                  .noneMatch(node -> node.state() == NodeState.State.VOTING),
          nodes);
      System.out.println("longest gap " + busy.longestGap());
    }
    assertThat(held.isValid()).isTrue();
    held.close();
  }

  @Test
  @Tag("thorough")
  void masterThatDiesAfterTheCall_isRemovedBeforeTheNewOneIsAdded() throws Exception {
    Redlock operator = client(0, 1, 2);
    Redlock other = client(0, 1, 2);
    awaitMembers(operator, 0, 1, 2);
    awaitMembers(other, 0, 1, 2);
    List<SetProgress> steps = new CopyOnWriteArrayList<>();
    CompletableFuture<List<String>> replaced;
    try (Lease first = other.lock("%set").acquire(Duration.ofSeconds(5))) {
      replaced =
          operator
              .operations()
              .replaceNode(name(2), nodes.get(3).uri(), steps::add)
              .toCompletableFuture();
      nodes.get(2).kill();
    }
    assertThat(replaced.get(90, SECONDS)).isEqualTo(names(0, 1, 3));
    assertThat(steps)
        .extracting(SetProgress::doing)
        .contains(name(2) + " does not come back, and is removed first");
  }

  private static String refusal(CompletionStage<List<String>> change) {
    return assertThatThrownBy(() -> change.toCompletableFuture().get(60, SECONDS))
        .rootCause()
        .actual()
        .getMessage();
  }

  @Test
  @Tag("thorough")
  void masterOfAnotherDeployment_withALowerEpoch_keepsItsSet() throws Exception {
    Redlock operator = client(0);
    awaitMembers(operator, 0);
    Clients.done(operator.operations().addNode(nodes.get(1).uri(), step -> {}));
    Redlock stranger = client(3);
    Redlock another = client(3);
    awaitMembers(stranger, 3);
    awaitMembers(another, 3);
    LockOptions once = LockOptions.builder().leaseTime(LONGEST).autoExtend(false).build();
    Lease held = stranger.lock("x", once).acquire(Duration.ofSeconds(5));
    assertThat(refusal(operator.operations().addNode(nodes.get(3).uri(), step -> {})))
        .contains("belongs to another set");
    assertThat(another.lock("x").tryAcquire()).isEmpty();
    assertThat(held.isValid()).isTrue();
    assertThat(members(another)).isEqualTo(names(3));
  }

  @Test
  @Tag("thorough")
  void client_thatClosesBetweenTwoBallots_failsTheChange() throws Exception {
    for (int i = 0; i < 5; i++) {
      Redlock operator = client(0);
      awaitMembers(operator, 0);
      // As if an operator with a clock of the far future had got a promise.
      nodes.get(0).command("HSET", "redlock:%node", "promised", "9000000000000000");
      CompletableFuture<List<String>> change =
          operator.operations().addNode(nodes.get(1).uri(), step -> {}).toCompletableFuture();
      Thread.sleep(300 + 20L * i);
      operator.close();
      assertThatThrownBy(() -> change.get(5, SECONDS)).isInstanceOf(ExecutionException.class);
    }
  }

  @Test
  void replaceByItself_isRefused() {
    Redlock operator = client(0, 1, 2);
    awaitMembers(operator, 0, 1, 2);
    assertThat(refusal(operator.operations().replaceNode(name(2), nodes.get(2).uri(), step -> {})))
        .isEqualTo(
            name(2)
                + " cannot take its own place: a member that starts empty becomes one again"
                + " itself");
    assertThat(members(operator)).isEqualTo(names(0, 1, 2));
  }

  @Test
  void deadMember_isNotRemovedForAReplica() {
    Redlock operator = client(0, 1, 2);
    awaitMembers(operator, 0, 1, 2);
    nodes
        .get(4)
        .command(
            "HSET", "redlock:%node", "maxLeaseTime", "2000", "since", "1", "id", "x", "wire", "1");
    nodes.get(3).command("REPLICAOF", "127.0.0.1", String.valueOf(nodes.get(4).port()));
    Eventually.holds( // Redis waits for 5 s before it sends a snapshot.
        () -> nodes.get(3).key("redlock:%node").isPresent(), Duration.ofSeconds(20), nodes);
    nodes.get(2).kill();
    Eventually.holds(
        () ->
            operator.operations().nodes().stream()
                .anyMatch(node -> node.state() == NodeState.State.CONNECTING),
        nodes);
    assertThat(refusal(operator.operations().replaceNode(name(2), nodes.get(3).uri(), step -> {})))
        .startsWith(name(3) + " cannot vote: is a replica");
    assertThat(members(operator)).isEqualTo(names(0, 1, 2));
  }

  @Test
  @Tag("thorough")
  void deadMember_thatIsRemoved_isReportedAsNotTold() throws Exception {
    Redlock operator = client(0, 1, 2);
    awaitMembers(operator, 0, 1, 2);
    nodes.get(2).kill();
    List<SetProgress> steps = new CopyOnWriteArrayList<>();
    operator.operations().removeNode(name(2), steps::add).toCompletableFuture().get(60, SECONDS);
    String notTold = " was not told that it is removed: keep it off, or delete its data";
    Eventually.holds(
        () -> steps.stream().anyMatch(it -> it.doing().endsWith("; " + name(2) + notTold)), nodes);
    operator.operations().removeNode(name(1), steps::add).toCompletableFuture().get(60, SECONDS);
    assertThat(steps).noneMatch(step -> step.doing().contains(name(1) + notTold));
  }
}
