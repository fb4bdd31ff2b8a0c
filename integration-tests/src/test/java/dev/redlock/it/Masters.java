package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.TcpGate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Servers of one deployment or more, and clients that may be configured wrongly. The guard time is
 * 7 s.
 *
 * <p>{@link #remove} writes what a completed change leaves behind, in the time of one command. It
 * replaces three fields of the record, whatever else the record has.
 */
final class Masters implements AutoCloseable {
  static final Duration LONGEST = Duration.ofSeconds(2);
  static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final String MARKER = "redlock:%node";
  private static final String IN_DATABASE =
      "redis.call('SELECT', ARGV[1]); return redis.call(unpack(ARGV, 2))";

  private final RedisNodes servers;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  Masters(int count) {
    servers = RedisNodes.start(count);
  }

  RedisNode get(int master) {
    return servers.get(master);
  }

  String uri(int master) {
    return servers.get(master).uri();
  }

  String[] uris(int... which) {
    return IntStream.of(which).mapToObj(this::uri).toArray(String[]::new);
  }

  /** With another database than 0. */
  String uri(int master, int database) {
    return uri(master) + "/" + database;
  }

  String name(int master) {
    return uri(master).replace("redis://", "");
  }

  /** Another address of a master, at a port that can lead elsewhere later; 0 for any port. */
  TcpGate gate(int master, int port) {
    TcpGate gate = TcpGate.inFrontOf("127.0.0.1", servers.get(master).directPort(), port);
    opened.push(gate);
    return gate;
  }

  static String uri(TcpGate gate) {
    return "redis://127.0.0.1:" + gate.port();
  }

  /** A program with this list. */
  Redlock client(String... uris) {
    Redlock client = build(uris);
    opened.push(client);
    return client;
  }

  private static Redlock build(String... uris) {
    return Redlock.builder()
        .nodes(uris)
        .maxLeaseTime(LONGEST)
        .restartGuard(RestartGuard.OFF)
        .defaults(LockOptions.builder().leaseTime(LONGEST).autoExtend(false).build())
        .build();
  }

  /** A program whose nodes all vote. */
  Redlock voting(String... uris) {
    Redlock client = client(uris);
    awaitVoting(client, uris.length);
    return client;
  }

  void awaitVoting(Redlock client, int nodes) {
    Eventually.holds(() -> Clients.votes(client) == nodes, PATIENCE, () -> describe(client));
  }

  String describe(Redlock client) {
    return client.operations().nodes() + "\n" + servers.describe();
  }

  /** A deployment whose masters all have its first record, and no client any more. */
  void found(String... uris) {
    try (Redlock first = build(uris)) {
      awaitVoting(first, uris.length);
    }
  }

  /**
   * What the master stores of the deployment in this database; empty if nothing. Without the note
   * that its marker is a new one, which says nothing of the set.
   */
  Map<String, String> record(int master, int database) {
    Map<String, String> fields = new TreeMap<>();
    if (in(master, database, "HGETALL", MARKER) instanceof List<?> words) {
      for (Iterator<?> word = words.iterator(); word.hasNext(); ) {
        fields.put(String.valueOf(word.next()), String.valueOf(word.next()));
      }
    }
    fields.remove("renewed");
    return fields;
  }

  List<Map<String, String>> records(int database, int... masters) {
    return IntStream.of(masters).mapToObj(master -> record(master, database)).toList();
  }

  private Object in(int master, int database, String... words) {
    return servers
        .get(master)
        .command(
            Stream.concat(
                    Stream.of("EVAL", IN_DATABASE, "0", String.valueOf(database)), Stream.of(words))
                .toArray(String[]::new));
  }

  /** As if operators had removed one of these members: all of them know the set without it. */
  void remove(int removed, int database, long epoch, int... members) {
    for (int master : members) {
      String without =
          record(master, database)
              .get("members")
              .lines()
              .filter(name -> !name.contains(":" + servers.get(removed).port()))
              .collect(Collectors.joining("\n"));
      String number = Long.toString(epoch);
      in(master, database, "HSET", MARKER, "members", without, "epoch", number, "floor", number);
    }
  }

  /** The record of these masters, as if operators had come to this set in this epoch. */
  void write(long epoch, List<String> uris, int... to) {
    String number = Long.toString(epoch);
    String members =
        uris.stream()
            .map(uri -> uri.replace("redis://", ""))
            .sorted()
            .collect(Collectors.joining("\n"));
    for (int master : to) {
      in(master, 0, "HSET", MARKER, "members", members, "epoch", number, "floor", number);
    }
  }

  /** As if operators had changed the set, and changed it back. */
  void raise(int database, long epoch, int... members) {
    String number = Long.toString(epoch);
    for (int master : members) {
      in(master, database, "HSET", MARKER, "epoch", number, "floor", number);
    }
  }

  /** As if all clients called the members by other names. */
  void rename(Map<String, String> names, int... members) {
    for (int master : members) {
      Map<String, String> record = record(master, 0);
      for (String field : List.of("name", "members")) {
        String text =
            record.get(field).lines().map(names::get).sorted().collect(Collectors.joining("\n"));
        in(master, 0, "HSET", MARKER, field, text);
      }
    }
  }

  /**
   * A program with this list that hears of one of its masters before it hears of the others.
   *
   * @param heard which of the list
   */
  Redlock clientThatHearsFirst(int heard, int... list) {
    List<RedisNode> others =
        IntStream.of(list).filter(master -> master != list[heard]).mapToObj(this::get).toList();
    others.forEach(RedisNode::pause);
    try {
      Redlock client = client(uris(list));
      Eventually.holds(
          () -> isHeard(client.operations().nodes().get(heard)), PATIENCE, () -> describe(client));
      return client;
    } finally {
      others.forEach(RedisNode::resume);
    }
  }

  /** Whether the client has read the record, if it counts the votes of that deployment or not. */
  private static boolean isHeard(NodeState node) {
    return node.state() != NodeState.State.CONNECTING
        && !node.cause().startsWith("still connecting");
  }

  /** A lease of the longest time, which is not extended. */
  static Lease hold(Redlock client, String name) {
    return client.lock(name).acquire(PATIENCE);
  }

  static Optional<Lease> attempt(Redlock client, String name) {
    try {
      return client.lock(name).tryAcquire();
    } catch (QuorumUnavailableException e) {
      return Optional.empty();
    }
  }

  /** The other client gets no lease of the name that is valid at once with this one. */
  void assertExcluded(Lease held, Redlock other) throws InterruptedException {
    assertExcluded(held.names().get(0), held::isValid, other);
  }

  /** The same for a holder that is stopped, so that it extends and repairs nothing. */
  void assertExcluded(String name, BooleanSupplier valid, Redlock other)
      throws InterruptedException {
    while (valid.getAsBoolean()) {
      Optional<Lease> second = attempt(other, name);
      boolean both = second.isPresent() && valid.getAsBoolean();
      second.ifPresent(Lease::close);
      assertThat(both).as(() -> "two valid leases\n" + describe(other)).isFalse();
      Thread.sleep(20);
    }
  }

  /**
   * As if a process was stopped right after it was granted the lock by these masters.
   *
   * @return whether its lease is valid
   */
  BooleanSupplier stoppedHolder(Redlock client, String name, int... granted) {
    long until = System.nanoTime() + LONGEST.toNanos();
    try (Lease lease = hold(client, name)) {
      String id = String.valueOf(get(granted[0]).command("GET", Clients.lockKey(name)));
      assertThat(lease.isValid()).isTrue();
      lease.close();
      long millis = LONGEST.toMillis();
      for (int master : granted) {
        get(master).command("SET", Clients.lockKey(name), id, "PX", Long.toString(millis));
      }
    }
    return () -> System.nanoTime() - until < 0;
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
    servers.close();
  }
}
