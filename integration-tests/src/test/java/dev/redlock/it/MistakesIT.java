package dev.redlock.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import ch.qos.logback.classic.Level;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.harness.CapturedLog;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.SetProgress;
import dev.redlock.testkit.TcpGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ordinary mistakes (issue 52): a wrong database in one address, an address that leads elsewhere, a
 * list that mixes two deployments, a user who may not read the marker. No two leases of one name
 * are ever valid at once, and no mistake changes the record of another deployment.
 */
class MistakesIT {
  private Masters masters;

  @BeforeEach
  void start() {
    masters = new Masters(6);
  }

  @AfterEach
  void close() throws Exception {
    masters.close();
  }

  // 1: a slip in one list, or an address that leads to another deployment.

  @Test
  void wrongDatabaseInOneAddress_changesNoRecord_andTheProgramWorksWithTheMajority()
      throws Exception {
    masters.found(masters.uri(0, 1), masters.uri(1, 1), masters.uri(2, 1), masters.uri(3, 1));
    masters.remove(2, 1, 3, 0, 1, 2, 3);
    Redlock program = masters.voting(masters.uris(0, 1, 2));
    List<Map<String, String>> own = masters.records(0, 0, 1, 2, 3);
    List<Map<String, String>> others = masters.records(1, 0, 1, 2, 3);

    Redlock slip = masters.client(masters.uri(0), masters.uri(1), masters.uri(2, 1));
    assertThat(slip.awaitReady(Masters.PATIENCE)).as(() -> masters.describe(slip)).isTrue();
    Lease held = Masters.hold(program, "x");
    masters.assertExcluded(held, slip);
    Masters.hold(slip, "free").close();

    assertThat(masters.records(0, 0, 1, 2, 3)).isEqualTo(own);
    assertThat(masters.records(1, 0, 1, 2, 3)).isEqualTo(others);
  }

  /** It had the name of the member, got its record, and voted beside it (ReplaceRunIT). */
  @Test
  void wrongDatabaseThatIsEmpty_getsNoRecord_andTheProgramWorksWithTheMajority() throws Exception {
    masters.found(masters.uris(0, 1, 2));
    for (int wrong = 0; wrong < 3; wrong++) {
      String[] list = masters.uris(0, 1, 2);
      list[wrong] = masters.uri(wrong, 1);
      Redlock slip = masters.client(list);
      assertThat(slip.awaitReady(Masters.PATIENCE)).as(() -> masters.describe(slip)).isTrue();
      Masters.hold(slip, "free").close();
      assertThat(masters.record(wrong, 1)).doesNotContainKey("members");
    }
  }

  /**
   * Short names: in two networks they lead to two deployments. The other one has replaced the
   * master of the first name by that of a fourth.
   */
  @Test
  void nameThatNowLeadsToAnotherDeployment_changesNoRecord_andGivesNoSecondHolder()
      throws Exception {
    List<TcpGate> names =
        IntStream.of(3, 4, 5, 2).mapToObj(other -> masters.gate(other, 0)).toList();
    String[] all = names.stream().map(Masters::uri).toArray(String[]::new);
    masters.found(all);
    masters.write(3, List.of(all).subList(1, 4), 2, 3, 4, 5);
    List<Map<String, String>> others = masters.records(0, 2, 3, 4, 5);
    names.subList(0, 3).forEach(TcpGate::close);
    masters.gate(0, names.get(0).port());
    masters.gate(1, names.get(1).port());
    // The third master of this deployment is dead from the start: there are but six servers.
    masters.found(all[0], all[1]);
    masters.write(1, List.of(all).subList(0, 3), 0, 1);
    Redlock program = masters.client(all[0], all[1], all[2]);
    masters.awaitVoting(program, 2);
    List<Map<String, String>> own = masters.records(0, 0, 1);

    BooleanSupplier held = masters.stoppedHolder(program, "x", 0, 1);
    masters.gate(5, names.get(2).port());
    masters.assertExcluded("x", held, program);

    assertThat(masters.records(0, 0, 1)).isEqualTo(own);
    assertThat(masters.records(0, 2, 3, 4, 5)).isEqualTo(others);
    Masters.hold(program, "free").close();
  }

  // 2: a list that mixes two deployments.

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void listWithTwoMastersOfOneAndOneOfAnother_worksWithTheMajority_whicheverIsHeardFirst(int heard)
      throws Exception {
    Redlock program = masters.voting(masters.uris(0, 1, 2));
    masters.found(masters.uris(3, 4, 5));
    masters.raise(0, 2, 3, 4, 5);
    List<Map<String, String>> before = masters.records(0, 0, 1, 2, 3, 4, 5);

    Redlock mixed = masters.clientThatHearsFirst(heard, 0, 1, 3);
    assertThat(mixed.awaitReady(Masters.PATIENCE)).as(() -> masters.describe(mixed)).isTrue();
    Lease held = Masters.hold(program, "x");
    masters.assertExcluded(held, mixed);
    Masters.hold(mixed, "free").close();

    assertThat(masters.records(0, 0, 1, 2, 3, 4, 5)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void listWithoutAMajorityOfOneDeployment_getsNoLock_andTheSentenceNamesEachAddress(int heard) {
    masters.found(masters.uris(0, 1, 2));
    masters.found(masters.uris(3, 4, 5));
    masters.raise(0, 2, 3, 4, 5);
    List<Map<String, String>> before = masters.records(0, 0, 1, 2, 3, 4, 5);

    Redlock mixed = masters.clientThatHearsFirst(heard, 0, 1, 3, 4);
    Eventually.holds(
        () -> {
          assertThat(Masters.attempt(mixed, "x")).as(() -> masters.describe(mixed)).isEmpty();
          return isSaid(mixed, masters.name(0), masters.name(1), masters.name(3), masters.name(4));
        },
        Masters.PATIENCE,
        () -> masters.describe(mixed));
    assertThat(masters.records(0, 0, 1, 2, 3, 4, 5)).isEqualTo(before);
  }

  /** Whether the client says all of these words in one sentence about a node. */
  private static boolean isSaid(Redlock client, String... words) {
    return client.operations().nodes().stream()
        .map(NodeState::cause)
        .anyMatch(cause -> List.of(words).stream().allMatch(cause::contains));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void removedMasterThatRestartsEmpty_andWasFoundedAnew_doesNotStopProgramsWithTheOldList(int heard)
      throws Exception {
    masters.found(masters.uris(0, 1, 2));
    masters.remove(2, 0, 2, 0, 1, 2);
    masters.get(2).restart();
    Redlock program = masters.voting(masters.uris(0, 1));
    masters.voting(masters.uris(2)).close(); // A program founds it; a look must not.
    List<Map<String, String>> before = masters.records(0, 0, 1, 2);

    Redlock old = masters.clientThatHearsFirst(heard, 0, 1, 2);
    assertThat(old.awaitReady(Masters.PATIENCE)).as(() -> masters.describe(old)).isTrue();
    Lease held = Masters.hold(program, "x");
    masters.assertExcluded(held, old);
    Masters.hold(old, "free").close();

    assertThat(masters.records(0, 0, 1, 2)).isEqualTo(before);
  }

  @Test
  @Tag("thorough")
  void removedMasterOfAnotherDeployment_isNotAdded() {
    masters.found(masters.uris(3, 4, 5));
    masters.remove(5, 0, 2, 3, 4, 5);
    Redlock operator = masters.voting(masters.uris(0, 1, 2));
    masters.raise(0, 3, 0, 1, 2);
    List<Map<String, String>> others = masters.records(0, 3, 4, 5);

    String why = refusal(operator.operations().addNode(masters.uri(5), step -> {}));
    assertThat(why).contains(masters.name(5));
    assertThat(masters.records(0, 3, 4, 5)).isEqualTo(others);
  }

  private static String refusal(CompletionStage<?> change) {
    return assertThatThrownBy(() -> change.toCompletableFuture().get(60, SECONDS))
        .isInstanceOf(ExecutionException.class)
        .rootCause()
        .isInstanceOf(IllegalStateException.class)
        .actual()
        .getMessage();
  }

  // 3: users who do not learn of a change.

  @ParameterizedTest
  @CsvSource({
    "~redlock:{orders*, +@all, %node",
    "~redlock:*, +@all -hmget, HMGET",
  })
  void userWhoMayNotReadTheMarker_getsNoLock_andTheSentenceSaysWhatIsMissing(
      String keys, String commands, String missing) throws Exception {
    // The set has five members now, and the list of the restricted program has three.
    masters.found(masters.uris(0, 1, 2, 3, 4));
    List<TcpGate> gates = List.of(masters.gate(0, 0), masters.gate(1, 0));
    String[] restricted = new String[3];
    for (int i = 0; i < restricted.length; i++) {
      List<String> user = new ArrayList<>(List.of("ACL", "SETUSER", "orders", "on", ">secret"));
      user.addAll(List.of(keys, "&*"));
      user.addAll(List.of(commands.split(" ")));
      masters.get(i).command(user.toArray(String[]::new));
      restricted[i] = masters.uri(i).replace("redis://", "redis://orders:secret@");
    }
    // The holder reaches only the three of which the restricted program knows one.
    masters.rename(
        Map.of(
            masters.name(0), Masters.uri(gates.get(0)).replace("redis://", ""),
            masters.name(1), Masters.uri(gates.get(1)).replace("redis://", ""),
            masters.name(2), masters.name(2),
            masters.name(3), masters.name(3),
            masters.name(4), masters.name(4)),
        0,
        1,
        2,
        3,
        4);
    gates.forEach(TcpGate::cut);
    Redlock holder = masters.client(masters.uris(2, 3, 4));
    masters.awaitVoting(holder, 3);

    Redlock program = masters.client(restricted);
    Eventually.refused(
        () -> program.lock("orders-free").tryAcquire(),
        missing,
        Masters.PATIENCE,
        () -> masters.describe(program));
    masters.assertExcluded(Masters.hold(holder, "orders-held"), program);
  }

  @Test
  void markerOfAnotherType_isNoVote_andNobodyWritesIt() {
    for (int i = 0; i < 3; i++) {
      masters.get(i).command("SET", "redlock:%node", "mine");
    }
    Redlock program = masters.client(masters.uris(0, 1, 2));
    QuorumUnavailableException refused =
        Eventually.refused(
            () -> program.lock("x").tryAcquire(),
            "%node",
            Masters.PATIENCE,
            () -> masters.describe(program));
    assertThat(refused).hasMessageContaining(masters.name(0));
    for (int i = 0; i < 3; i++) {
      assertThat(masters.get(i).command("GET", "redlock:%node")).isEqualTo("mine");
    }
  }

  // 5: a name that means another server on each machine.

  @Test
  @Tag("thorough")
  void listThatMixesLoopbackWithOtherNames_isNotFounded() {
    Redlock program =
        masters.client(masters.uri(0), masters.uri(1), "redis://redis-3.invalid:6379");
    long founded = System.nanoTime() + SECONDS.toNanos(5); // A first record is written after 3 s.
    while (System.nanoTime() - founded < 0) {
      assertThat(Masters.attempt(program, "x")).isEmpty();
    }
    assertThat(isSaid(program, masters.name(0), "redis-3.invalid:6379", "use one name that is"))
        .as(() -> masters.describe(program))
        .isTrue();
    assertThat(masters.record(0, 0)).doesNotContainKey("members");
    assertThat(masters.record(1, 0)).doesNotContainKey("members");
  }

  // 5b: a client that starts with the list of before a replacement.

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void listOfBeforeAReplacement_isReadyForTheFirstAttempt(boolean replacedMasterIsDead) {
    masters.found(masters.uris(0, 1, 2, 3));
    masters.remove(2, 0, 3, 0, 1, 2, 3);
    if (replacedMasterIsDead) {
      masters.get(2).kill();
    }
    for (int i = 0; i < 5; i++) {
      try (Redlock client = masters.client(masters.uris(0, 1, 2))) {
        assertThat(client.awaitReady(Masters.PATIENCE)).isTrue();
        assertThat(client.lock("x-" + i).tryAcquire()).isPresent();
      }
    }
  }

  /** Two of the four members hang, so the round is open for 1 s, also without the vote of one. */
  @Test
  void singleTry_whileTheSetChangesUnderIt_isRepeated() {
    Redlock program = masters.voting(masters.uris(0, 1, 2, 3));
    LockOptions patient = Clients.options().leaseTime(Masters.LONGEST).build();
    List.of(2, 3).forEach(hung -> masters.get(hung).pause());
    long begun = System.nanoTime();
    CompletableFuture<Optional<Lease>> attempt = program.lock("x", patient).tryAcquireAsync();
    masters.write(3, List.of(masters.uris(0)), 0);
    Eventually.holds(
        () -> program.operations().nodes().get(2).cause().startsWith("is no member"),
        Masters.PATIENCE,
        () -> masters.describe(program));
    assumeThat(System.nanoTime() - begun).as("no pause").isLessThan(SECONDS.toNanos(1));
    assertThat(attempt)
        .as(() -> masters.describe(program))
        .succeedsWithin(Masters.PATIENCE)
        .matches(Optional::isPresent);
  }

  // 6: a member that carries a foreign record.

  @ParameterizedTest
  @CsvSource({"1, false", "2, false", "2, true"})
  void memberWhoseAddressLeadsToAnotherDeployment_losesItsVoteAlone_andIsNotConnectedAgain(
      long epochOfTheOther, boolean toAReplica) throws Exception {
    masters.found(masters.uris(3, 4, 5));
    masters.raise(0, epochOfTheOther, 3, 4, 5);
    TcpGate third = masters.gate(2, 0);
    String[] list = {masters.uri(0), masters.uri(1), Masters.uri(third)};
    Redlock program = masters.voting(list);
    List<Map<String, String>> before = masters.records(0, 0, 1, 3, 4, 5);

    third.close();
    if (toAReplica) {
      masters.get(5).command("REPLICAOF", "127.0.0.1", "1");
    }
    TcpGate elsewhere = masters.gate(5, third.port());
    Eventually.holds(
        () -> elsewhere.connections() > 0, Masters.PATIENCE, () -> masters.describe(program));
    long connected = connectionsTo(5);
    Redlock later = masters.client(list);
    long end = System.nanoTime() + SECONDS.toNanos(3);
    for (int i = 0; System.nanoTime() - end < 0; i++) {
      program.lock("x-" + i).acquire(Duration.ofSeconds(5)).close();
      later.lock("x-" + i).acquire(Duration.ofSeconds(5)).close();
      Thread.sleep(20);
    }
    assertThat(connectionsTo(5) - connected).as("further connections").isLessThan(12);
    String name = "127.0.0.1:" + third.port();
    for (Redlock client : List.of(program, later)) {
      assertThat(client.operations().nodes())
          .filteredOn(node -> node.node().equals(name))
          .singleElement()
          .satisfies(node -> assertThat(node.state()).isNotEqualTo(NodeState.State.VOTING));
      assertThat(client.operations().doctor().toCompletableFuture().get(10, SECONDS).nodes())
          .filteredOn(one -> one.node().node().equals(name))
          .singleElement()
          .satisfies(
              one -> assertThat(one.complaints()).anyMatch(c -> c.contains("does not vote")));
    }
    assertThat(masters.records(0, 0, 1, 3, 4, 5)).isEqualTo(before);
  }

  private long connectionsTo(int master) {
    String stats = String.valueOf(masters.get(master).command("INFO", "stats"));
    return stats
        .lines()
        .filter(line -> line.startsWith("total_connections_received:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .sum();
  }

  // 7 and 8: masters that cannot store the set.

  @Test
  @Tag("thorough")
  void fullMaster_isNotAdded_andNoSetIsOpenedBefore() throws Exception {
    Redlock operator = masters.voting(masters.uris(0, 1, 2));
    masters.get(3).command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    masters.get(3).command("CONFIG", "SET", "maxmemory", "1mb");

    String why = refusal(operator.operations().addNode(masters.uri(3), step -> {}));
    assertThat(why).contains(masters.name(3), "OOM");
    for (int member = 0; member < 3; member++) {
      assertThat(masters.record(member, 0)).containsEntry("epoch", "1").containsEntry("floor", "1");
    }
    assertThat(masters.record(3, 0)).doesNotContainKey("members");
    assertThat(Clients.done(operator.operations().addNode(masters.uri(4), step -> {})))
        .containsExactlyInAnyOrder(
            masters.name(0), masters.name(1), masters.name(2), masters.name(4));
  }

  // 9: the same call again.

  @Test
  void removeNode_again_changesNothing() throws Exception {
    masters.found(masters.uris(0, 1, 2));
    masters.remove(2, 0, 2, 0, 1, 2);
    Redlock operator = masters.client(masters.uris(0, 1, 2));
    assertThat(Clients.done(operator.operations().removeNode(masters.name(2), step -> {})))
        .containsExactlyInAnyOrder(masters.name(0), masters.name(1));
  }

  @Test
  void replaceNode_again_doesNotWarnOfAMasterThatWasTold() throws Exception {
    masters.found(masters.uris(0, 1, 2, 3));
    masters.remove(2, 0, 3, 0, 1, 2, 3);
    Redlock operator = masters.voting(masters.uris(0, 1, 3));
    List<SetProgress> steps = Collections.synchronizedList(new ArrayList<>());
    Clients.done(operator.operations().replaceNode(masters.name(2), masters.uri(3), steps::add));
    assertThat(steps).noneMatch(step -> step.doing().contains("was not told"));
  }

  // 12: a member of which the list has another address, and which is silent at first.

  /** After 3 s the client connects to the recorded address too, and then to one server twice. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("thorough")
  void memberThatIsProbedLate_isNotLoggedAsAFault_asOneThatCannotVoteIs(boolean later) {
    TcpGate recorded = masters.gate(2, 0);
    TcpGate configured = masters.gate(2, 0);
    String[] list = masters.uris(0, 1, 2, 3, 4);
    list[2] = Masters.uri(recorded);
    masters.found(list);
    list[2] = Masters.uri(configured);
    recorded.blackHole();
    configured.blackHole();
    try (CapturedLog log = new CapturedLog(Level.ERROR, false)) {
      Redlock program = masters.client(list);
      Eventually.holds(
          () -> program.operations().nodes().size() == 6,
          Masters.PATIENCE,
          () -> masters.describe(program));
      if (later) {
        awaitFault(log, 0, program);
      }
      recorded.endFaults();
      masters.awaitVoting(program, later ? 4 : 5);
      configured.endFaults();
      awaitFault(log, 1, program);
      assertThat(log.messages(Level.ERROR))
          .as(() -> masters.describe(program))
          .noneMatch(line -> line.contains("node 127.0.0.1:" + recorded.port()))
          .noneMatch(line -> line.contains("node 127.0.0.1:" + configured.port()));
    }
  }

  /** A master shows another deployment. After 5 s this is logged. */
  private void awaitFault(CapturedLog log, int master, Redlock program) {
    masters.get(master).command("HSET", "redlock:%node", "deployment", "other" + master);
    String line = "node " + masters.name(master) + " does not vote, and will not until an operator";
    Eventually.holds(
        () -> log.messages(Level.ERROR).anyMatch(text -> text.startsWith(line)),
        Masters.PATIENCE,
        () -> masters.describe(program));
  }

  // 14: two spellings.

  @Test
  void twoSpellingsOfTheList_haveOneHomeNodeForEachName() throws Exception {
    Redlock holder = masters.voting(masters.uris(0, 1, 2));
    Redlock other =
        masters.voting(
            IntStream.range(0, 3)
                .mapToObj(i -> masters.uri(i).replace("127.0.0.1", "localhost"))
                .toArray(String[]::new));
    List<Redlock> waiting = List.of(masters.voting(masters.uris(0, 1, 2)), other);
    for (int i = 0; i < 12; i++) {
      String name = "spelled-" + i;
      try (Lease held = Masters.hold(holder, name)) {
        waiting.forEach(
            client ->
                client.lock(name).acquireAsync(Masters.PATIENCE).thenCompose(Lease::releaseAsync));
        Eventually.holds(
            () -> queued(name).contains(2L), Masters.PATIENCE, () -> name + ": " + queued(name));
        assertThat(held.isValid()).isTrue();
      }
    }
  }

  /** By master: how many processes are in its queue. */
  private List<Long> queued(String name) {
    return IntStream.range(0, 3)
        .mapToObj(i -> (Long) masters.get(i).command("ZCARD", Clients.queueKey(name)))
        .toList();
  }
}
