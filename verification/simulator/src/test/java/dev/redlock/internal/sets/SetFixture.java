package dev.redlock.internal.sets;

import dev.redlock.harness.model.RecordScript;
import dev.redlock.internal.sets.Membership.Decision;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Nodes with records, and one client that sees them as they are, unless they are down for it. */
final class SetFixture {
  static final long SECOND = 1_000_000_000;
  static final long MAX_LEASE = 5_000;
  static final long GUARD = RestartGuard.guardTime(Duration.ofMillis(MAX_LEASE)).toNanos();

  final Map<String, NodeRecord> records = new TreeMap<>();
  final List<String> down = new ArrayList<>();
  final List<String> cut = new ArrayList<>(); // Under this name only.
  final List<String> refused = new ArrayList<>(); // Under this name, as one server with another.
  final List<String> replicas = new ArrayList<>(); // They store nothing.
  final List<String> silent = new ArrayList<>(); // Without permission to show their records.
  final List<String> names = new ArrayList<>(); // As the client calls them, by number.
  final Map<String, String> causes = new TreeMap<>(); // Why a node is not reached.
  final Map<String, String> hosts = new TreeMap<>(); // Other spellings of names.
  final Membership membership;
  long now = 100 * SECOND;

  SetFixture(String... seeds) {
    this("d1", false, MAX_LEASE, seeds);
  }

  static SetFixture observer(String... seeds) {
    return new SetFixture("none", true, MAX_LEASE, seeds);
  }

  private SetFixture(String newId, boolean observes, long maxLease, String... seeds) {
    names.addAll(List.of(seeds));
    membership = new Membership(seeds.length, observes, () -> newId, maxLease, GUARD, now);
  }

  /** Another client of the same nodes. */
  SetFixture another(String... seeds) {
    return another(MAX_LEASE, seeds);
  }

  SetFixture another(long maxLease, String... seeds) {
    SetFixture other = new SetFixture("d2", false, maxLease, seeds);
    other.records.putAll(records);
    other.hosts.putAll(hosts);
    return other;
  }

  private String host(String name) {
    return hosts.getOrDefault(name, name);
  }

  NodeRecord record(String name) {
    return records.getOrDefault(host(name), NodeRecord.NONE);
  }

  List<Seen> seen() {
    List<Seen> seen = new ArrayList<>();
    for (String name : names) {
      boolean away = down.contains(host(name)) || cut.contains(name);
      State state = away ? State.CONNECTING : State.VOTING;
      boolean kept = replicas.contains(host(name)) || refused.contains(name);
      state = kept && !away ? State.QUARANTINED : state;
      NodeRecord said = away ? NodeRecord.NONE : record(name);
      NodeRecord shown = silent.contains(host(name)) ? null : said;
      String server = away ? "" : host(name);
      String cause = away ? causes.getOrDefault(name, "") : "";
      seen.add(new Seen(name, new NodeStatus(state, 1, 0, 0, cause, false, shown), server));
    }
    return seen;
  }

  Decision review() {
    return membership.review(seen(), now);
  }

  void make(List<Tell> tells) {
    for (Tell tell : tells) {
      String host = host(names.get(tell.node()));
      if (replicas.contains(host)) {
        continue;
      }
      records.put(host, RecordScript.after(record(host), tell.change(), now / 1_000));
      membership.answered(tell, records.get(host));
    }
  }

  /** Reviews, writes and connects until nothing changes any more. */
  Decision settle() {
    Decision decision = review();
    Decision before = null;
    for (int i = 0; i < 20 && (!decision.equals(before) || !decision.tells().isEmpty()); i++) {
      make(decision.tells());
      names.addAll(decision.missing());
      before = decision;
      decision = review();
    }
    return decision;
  }
}
