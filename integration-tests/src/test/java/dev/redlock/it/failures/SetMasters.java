package dev.redlock.it.failures;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.ServerState;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * Masters of which some are members of the set, and what each of them stores of it. Says which of
 * them may restart empty: {@code docs/decisions/safety.md}, "What may be forgotten". Safe from any
 * thread.
 */
final class SetMasters implements AutoCloseable {
  private static final String MARKER = "redlock:%node";
  private static final String[] READ = {
    "HMGET",
    MARKER,
    "name",
    "epoch",
    "members",
    "before",
    "floor",
    "ballot",
    "promised",
    "maxLeaseTime",
    "maxLeaseBefore",
    "recordSince",
    "deployment"
  };

  private final RedisNodes pool;
  private final int firstMembers;
  private final History history;
  private final long guardNanos;

  /** By name: what the master stores, or will store when it runs again. */
  private final Map<String, NodeRecord> records = new HashMap<>();

  /** By name: when the master restarted empty last. */
  private final Map<String, Long> forgotten = new HashMap<>();

  /** The members of each epoch, as lists that clients may be configured with. */
  private final Set<List<String>> lists = new LinkedHashSet<>();

  /** The names of masters on which a client has written the record of another deployment. */
  private final Set<String> foreign = new TreeSet<>();

  private NodeRecord newest = NodeRecord.NONE;

  SetMasters(int count, int firstMembers, Duration maxLeaseTime, History history) {
    this.firstMembers = firstMembers;
    this.history = history;
    guardNanos = RestartGuard.guardTime(maxLeaseTime).toNanos();
    pool = RedisNodes.builder().count(count).gated(true).appendOnly(true).start();
  }

  RedisNodes all() {
    return pool;
  }

  static String name(RedisNode node) {
    return node.uri().replace("redis://", "");
  }

  RedisNode node(String name) {
    return pool.stream().filter(node -> name(node).equals(name)).findFirst().orElseThrow();
  }

  /** The newest record that a master has shown. */
  synchronized NodeRecord newest() {
    return newest;
  }

  /** Whether each of the first members has a record. */
  synchronized boolean isFounded() {
    look();
    return newest.exists() && knowing(newest.members()).size() == newest.members().size();
  }

  boolean isMember(RedisNode node) {
    return newest().members().contains(name(node));
  }

  /** The running masters that are no members; those that have forgotten lately come last. */
  synchronized List<RedisNode> candidates() {
    List<RedisNode> found = new ArrayList<>();
    for (RedisNode node : pool) {
      if (node.state() == ServerState.RUNNING && !isMember(node)) {
        boolean young = hasForgottenLately(name(node));
        found.add(young ? found.size() : 0, node);
      }
    }
    return found;
  }

  /** Reads the records of the masters that run. */
  synchronized void look() {
    for (RedisNode node : pool) {
      try {
        if (node.state() == ServerState.RUNNING) {
          NodeRecord record = record(node);
          if (!isOwn(record)) {
            tellForeign(name(node), record);
            continue;
          }
          records.put(name(node), record);
          if (record.epoch() > newest.epoch()) {
            lists.add(record.members());
            history.add(
                "harness",
                "epoch",
                "number",
                record.epoch(),
                "members",
                String.join(",", record.members()));
          }
          boolean same = record.epoch() == newest.epoch();
          if (record.epoch() > newest.epoch()
              || (same && record.floor() > newest.floor())
              || (same && record.isComplete())) {
            newest = record;
          }
        }
      } catch (RuntimeException e) {
        // It was paused or killed meanwhile, so what it said last still holds.
      }
    }
  }

  /** Whether all members are masters of this deployment. */
  private boolean isOwn(NodeRecord record) {
    return pool.stream().map(SetMasters::name).toList().containsAll(record.members());
  }

  private void tellForeign(String name, NodeRecord record) {
    if (foreign.add(name)) {
      history.add("harness", "broken", "why", name + " has a record of others: " + record);
    }
  }

  private static NodeRecord record(RedisNode node) {
    if (!(node.command(READ) instanceof List<?> words) || words.get(1) == null) {
      return NodeRecord.NONE;
    }
    return new NodeRecord(
        String.valueOf(words.get(10)),
        String.valueOf(words.get(0)),
        number(words.get(1)),
        names(words.get(2)),
        names(words.get(3)),
        number(words.get(4)),
        number(words.get(5)),
        number(words.get(6)),
        number(words.get(7)),
        number(words.get(8)),
        number(words.get(9)));
  }

  private static long number(Object text) {
    return Long.parseLong(String.valueOf(text));
  }

  private static List<String> names(Object text) {
    return String.valueOf(text).isEmpty() ? List.of() : List.of(String.valueOf(text).split("\n"));
  }

  /** The list of the present members. */
  synchronized List<String> present() {
    look();
    return newest.exists()
        ? newest.members().stream().map(name -> "redis://" + name).toList()
        : pool.uris().subList(0, firstMembers);
  }

  /**
   * The list with which a client starts: mostly the present one. An old list is used only if most
   * of its masters have a record, so that the client finds the present set.
   */
  synchronized List<String> list(Random random) {
    List<String> chosen = present();
    if (!newest.exists()) {
      return chosen;
    }
    List<List<String>> old = new ArrayList<>(lists);
    List<String> other = old.get(random.nextInt(old.size()));
    if (random.nextInt(3) == 0 && knowing(other).size() > other.size() / 2) {
      chosen = other.stream().map(name -> "redis://" + name).toList();
    }
    return chosen;
  }

  /** Those of these masters that run and have a record. */
  private List<String> knowing(List<String> names) {
    return names.stream()
        .filter(name -> records.getOrDefault(name, NodeRecord.NONE).exists())
        .filter(name -> node(name).state() == ServerState.RUNNING)
        .toList();
  }

  /**
   * A list with a slip: a wrong database, a master of another deployment, or too few. A client that
   * counts the votes of one deployment finds the present set nevertheless, because most of the list
   * show it. The present list if too few masters can show it now.
   *
   * @param kind 0 for a wrong database, 1 or 2 for a master of another deployment, 3 for too few
   * @param foreign masters of another deployment
   */
  synchronized List<String> listWithASlip(int kind, Random random, List<String> foreign) {
    List<String> list = new ArrayList<>(present());
    List<String> knowing = knowing(newest.members());
    int wrong = random.nextInt(list.size());
    int show = knowing.size() - (knowing.contains(list.get(wrong).replace("redis://", "")) ? 1 : 0);
    boolean enough = show > list.size() / 2;
    switch (kind) {
      case 0 -> list.set(wrong, list.get(wrong) + (enough ? "/1" : ""));
      case 1, 2 -> list.set(wrong, enough ? foreign.get(wrong % foreign.size()) : list.get(wrong));
      default -> {
        // If the only one of a list was empty, a client would found a deployment there.
        if (knowing.size() >= 2) {
          list.clear();
          knowing.subList(0, 2).forEach(name -> list.add("redis://" + name));
        }
      }
    }
    return list;
  }

  /** Restarts the master, empty if that is allowed now; returns whether it has forgotten. */
  synchronized boolean restartEmptyIfAllowed(RedisNode node) {
    if (!mayForget(name(node))) {
      node.restartKeepingData();
      return false;
    }
    forgotten.put(name(node), System.nanoTime());
    records.put(name(node), NodeRecord.NONE);
    node.restart();
    return true;
  }

  private boolean mayForget(String name) {
    look();
    if (isRemovedFor(name)) {
      return true; // Its data is deleted before it returns.
    }
    for (RedisNode other : pool) {
      if (!name(other).equals(name) && isUntold(name(other))) {
        return false;
      }
    }
    Set<String> concerned = new TreeSet<>(newest.members());
    concerned.addAll(newest.isSealed() ? List.of() : newest.before());
    int fewest = newest.members().size();
    if (!newest.isSealed()) {
      fewest = Math.min(fewest, newest.before().size());
    }
    long forgetful =
        concerned.stream()
            .filter(one -> !one.equals(name))
            .filter(
                one ->
                    hasForgottenLately(one) || !records.getOrDefault(one, NodeRecord.NONE).exists())
            .count();
    return !concerned.contains(name) || forgetful + 1 <= (fewest - 1) / 2;
  }

  /** Whether a master that is no member has a record by which it would be one. */
  private boolean isUntold(String name) {
    NodeRecord record = records.getOrDefault(name, NodeRecord.NONE);
    return record.exists()
        && !newest.members().contains(name)
        && (record.members().contains(name) || !record.isSealed());
  }

  private boolean isRemovedFor(String name) {
    return newest.isSealed() && !newest.members().contains(name);
  }

  private boolean hasForgottenLately(String name) {
    Long at = forgotten.get(name);
    return at != null && System.nanoTime() - at < guardNanos + 1_000_000_000L;
  }

  /** The naive operator of a control: writes another list to all masters that it concerns. */
  synchronized void overwrite(List<String> members) {
    look();
    Set<String> concerned = new TreeSet<>(newest.members());
    concerned.addAll(members);
    String epoch = Long.toString(newest.epoch() + 1);
    for (String name : concerned) {
      try {
        node(name)
            .command(
                "HSET",
                MARKER,
                "name",
                name,
                "epoch",
                epoch,
                "members",
                String.join("\n", members.stream().sorted().toList()),
                "before",
                String.join("\n", newest.members()),
                "floor",
                epoch,
                "ballot",
                epoch,
                "promised",
                epoch,
                "maxLeaseTime",
                Long.toString(newest.maxLeaseMillis()),
                "maxLeaseBefore",
                Long.toString(newest.maxLeaseMillis()),
                "recordSince",
                "1",
                "deployment",
                newest.id());
      } catch (IllegalStateException | UncheckedIOException e) {
        // It does not run now; another master tells its clients.
      }
    }
    look();
  }

  @Override
  public void close() {
    pool.close();
  }
}
