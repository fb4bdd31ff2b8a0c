package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Servers, programs and commands of people who are mistaken. The guard time is 7 s. */
final class Masters implements AutoCloseable {
  static final Duration WAIT = Duration.ofSeconds(20);

  private static final String MARKER = "redlock:%node";
  private static final Duration LONGEST = Duration.ofSeconds(2);
  static final List<String> SETTINGS = List.of("--max-lease-time", "2s", "--restart-guard", "OFF");

  private final RedisNodes servers;
  private final List<Redlock> programs = new ArrayList<>();

  Masters(int count) {
    servers = RedisNodes.start(count);
  }

  RedisNode get(int master) {
    return servers.get(master);
  }

  String name(int master) {
    return servers.get(master).uri().replace("redis://", "");
  }

  List<String> uris(int... which) {
    return IntStream.of(which).mapToObj(master -> servers.get(master).uri()).toList();
  }

  /** Runs a command with this list. */
  Captured redlock(List<String> uris, String... words) {
    List<String> args = new ArrayList<>(List.of(words));
    args.addAll(SETTINGS);
    return Captured.run(uris, args.toArray(new String[0]));
  }

  /** A program with this list. */
  Redlock program(List<String> uris) {
    return program(uris, false);
  }

  /** The same, or one that only looks. */
  Redlock program(List<String> uris, boolean observer) {
    Redlock program =
        Redlock.builder()
            .nodes(uris.toArray(new String[0]))
            .maxLeaseTime(LONGEST)
            .observer(observer)
            .restartGuard(RestartGuard.OFF)
            .defaults(LockOptions.builder().leaseTime(LONGEST).build())
            .build();
    programs.add(program);
    return program;
  }

  static void awaitVoting(Redlock program, int nodes) {
    try {
      Awaitility.await()
          .atMost(WAIT)
          .until(
              () ->
                  program.operations().nodes().stream()
                          .filter(node -> node.state() == NodeState.State.VOTING)
                          .count()
                      == nodes);
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(String.valueOf(program.operations().nodes()), e);
    }
  }

  /** A deployment whose masters all have its first record, and no client any more. */
  void found(int... which) {
    try (Redlock first = program(uris(which))) {
      awaitVoting(first, which.length);
    }
  }

  /** What the master stores of its deployment. */
  Map<String, String> record(int master) {
    Map<String, String> fields = new HashMap<>();
    List<?> words = (List<?>) servers.get(master).command("HGETALL", MARKER);
    for (int i = 0; words != null && i < words.size(); i += 2) {
      fields.put(String.valueOf(words.get(i)), String.valueOf(words.get(i + 1)));
    }
    return fields;
  }

  List<Map<String, String>> records(int... which) {
    return IntStream.of(which).mapToObj(this::record).toList();
  }

  /** As if operators had removed one of these members: all of them know the set without it. */
  void remove(int removed, int... members) {
    for (int master : members) {
      String without =
          record(master)
              .get("members")
              .lines()
              .filter(name -> !name.equals(name(removed)))
              .collect(Collectors.joining("\n"));
      get(master).command("HSET", MARKER, "members", without, "epoch", "3", "floor", "3");
    }
  }

  /** As if all clients called the members by other names. */
  void rename(UnaryOperator<String> names, int... members) {
    for (int master : members) {
      Map<String, String> record = record(master);
      for (String field : List.of("name", "members")) {
        String text =
            record.get(field).lines().map(names).sorted().collect(Collectors.joining("\n"));
        get(master).command("HSET", MARKER, field, text);
      }
    }
  }

  /** Neither a record nor the marker. */
  void assertUntold(int... which) {
    for (int master : which) {
      assertThat(record(master)).as(name(master)).isEmpty();
    }
  }

  @Override
  public void close() {
    programs.forEach(Redlock::close);
    servers.close();
  }
}
