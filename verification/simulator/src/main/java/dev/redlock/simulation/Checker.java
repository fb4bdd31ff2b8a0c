package dev.redlock.simulation;

import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.harness.model.NodeModel;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.Exchange;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Rounds;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks what must hold, after every event of a machine and after every execution at a node. It
 * derives its own state from the requests and replies, and does not rely on what the machines
 * report about themselves. The rules:
 *
 * <ul>
 *   <li><b>exclusion</b>: No two leases of one name are valid at the same time.
 *   <li><b>quorum, age</b>: A grant or an extension has a quorum of votes that count, those of a
 *       grant not older than the node timeout.
 *   <li><b>deadline, end</b>: A lease is never valid longer than its first request allows. It ends
 *       once, at its deadline at the latest.
 *   <li><b>tokens, fence, ended</b>: Tokens are distinct and rise from lease to lease. A fence
 *       never falls, and "ended" rises with releases only.
 *   <li><b>extend, release</b>: Only a valid lease is extended. A roll-back never claims to be a
 *       release.
 *   <li><b>ttl, clean-up, idle, leftover</b>: Each key expires. What an attempt left is released,
 *       and at the end no key remains.
 *   <li><b>queue, starvation, order</b>: Callers are served in order, in fair mode those of all
 *       clients; outside of it the order among processes has no bound. A lock does not stay free
 *       while a process waits and a quorum works. A node executes requests in the order in which
 *       they were sent.
 *   <li><b>liveness, busy</b>: Every waiting caller is answered in time, and a history ends within
 *       a bounded number of events.
 *   <li><b>limiter, erring, cost</b>: Each request is justified by replies, hints, changes of
 *       status or pauses; {@link LockCost}, {@link LeaseCost} and {@link WaitRule} bound them. An
 *       erring node is not asked for new leases.
 * </ul>
 */
final class Checker {
  /** How many names there are: a, b and so on. */
  static final int NAMES = 4;

  /** The first letter of the lock of those who change the set of nodes. */
  private static final char SET = '%';

  /** The first name in worlds that need more of them. */
  static final char MANY = 'Ā';

  private final World world;
  private final Scenario scenario;

  /** Roll-backs that only leave a queue. */
  private final Map<String, LeaseCost> leaving = new HashMap<>();

  final WaitRule waits;
  private final List<Id> live = new ArrayList<>();
  private final List<Id> granted = new ArrayList<>();
  private final List<Shown> shown = new ArrayList<>();
  private final long[][] fenceFloor;
  private final long[][] floorUntil;

  /** How long after the eviction of a fence a node may accept tokens below it, on its clock. */
  private static final long FORGETFUL_NANOS =
      (LockRequest.Acquire.SLACK_MICROS + LockRequest.Acquire.AHEAD_MICROS) * 1000 * 102 / 100
          + Scenario.MS;

  /** The fences that were evicted. */
  private final List<Evicted> evicted = new ArrayList<>();

  int grants;
  int extensions;
  int handOffs;
  int handedOffLocally;

  // The node's keys before the execution that is being checked.
  private final String[] owner = new String[NAMES];
  private final long[] expires = new long[NAMES];
  private final long[] fence = new long[NAMES];
  private final long[] ended = new long[NAMES];

  Checker(World world) {
    this.world = world;
    scenario = world.scenario;
    waits = new WaitRule(world);
    int names = Math.max(NAMES, scenario.keySets.size());
    fenceFloor = new long[scenario.nodes][names];
    floorUntil = new long[scenario.nodes][names];
  }

  /** One lease id and everything that was sent about it. */
  static final class Id {
    final String leaseId;
    final SimLock lock;
    final LeaseCost cost;
    final List<Asked> acquires = new ArrayList<>(2);
    final List<Asked> extends_ = new ArrayList<>(4);
    long sentMask;
    long extendedMask;
    long releasedMask;
    long maxToken;
    long deadlineMono;
    long writtenUntilMono = Long.MIN_VALUE;
    boolean rolledBack;
    boolean broken;

    /** When the first node executed a break of it. */
    long brokenTrue;

    boolean over;
    long overMono;

    /** Whether its release waited behind extensions when it was looked at last. */
    boolean waits;

    /** When it was first seen to wait no longer; 0 if it never waited. */
    long turnMono;

    HeldLease held;
    LeaseEnd end;
    long grantedTrue;
    boolean gone;

    /** How many hand-offs in a row led to its current holder. */
    int handOffsInRow;

    Id(String leaseId, SimLock lock) {
      this.leaseId = leaseId;
      this.lock = lock;
      cost = new LeaseCost(lock, leaseId);
    }

    Asked acquire(long token) {
      for (Asked a : acquires) {
        if (a.token == token) {
          return a;
        }
      }
      return null;
    }
  }

  /** One request, and which nodes granted or refused it. */
  private static final class Asked {
    final Exchange exchange;
    final long token;
    final long ttlNanos;
    final long firstSendMono;
    final long firstSendTrue;
    long sent;
    long yes;
    long no;

    /** Nodes that replied that they did not execute it. */
    long refused;

    /** Nodes that granted an acquire while their record admitted its set of nodes. */
    long admitted;

    final long[] connection;

    Asked(Exchange exchange, long token, long ttlMillis, long mono, long now, int nodes) {
      this.exchange = exchange;
      this.token = token;
      ttlNanos = ttlMillis * Scenario.MS;
      firstSendMono = mono;
      firstSendTrue = now;
      connection = new long[nodes];
    }
  }

  /** A token that a user received, the time, and the nodes that granted it. */
  private record Shown(SimLock lock, String leaseId, long token, long grantedTrue, long nodes) {}

  /** A node lost the fence of a name at this time. */
  private record Evicted(SimNode node, String name, long atTrue, long untilTrue) {}

  private static Violation violation(String rule, String detail) {
    return new Violation(rule, detail);
  }

  private static void require(boolean holds, String rule, Object detail) {
    if (!holds) {
      throw violation(rule, detail.toString());
    }
  }

  // Requests that a client sends.

  void onSend(SimLock lock, Exchange exchange, LockRequest request, int node) {
    switch (request.operation()) {
      case ACQUIRE -> onSend(lock, exchange, (LockRequest.Acquire) request, node);
      case EXTEND -> onSend(lock, exchange, (LockRequest.Extend) request, node);
      case RELEASE -> onSend(lock, (LockRequest.Release) request, node);
      case ENQUEUE, INSPECT, BREAK -> {} // They store no lease.
    }
  }

  private void onSend(SimLock lock, Exchange exchange, LockRequest.Acquire r, int node) {
    long bit = 1L << node;
    long mono = lock.client.mono();
    Id id = lock.client.ids.get(r.leaseId());
    if (id == null) {
      id = new Id(r.leaseId(), lock);
      lock.client.ids.put(r.leaseId(), id);
      lock.openIds.add(id);
    }
    require(!id.rolledBack && !id.over, "reuse", "lease id used again: " + id.leaseId);
    Asked a = id.acquire(r.token());
    if (a == null) {
      require(
          r.token() % HeldLease.TOKENS_PER_GRANT == 0, "tokens", "a token that another grant owns");
      require(id.acquires.isEmpty(), "reuse", "a second token under one lease id: " + id.leaseId);
      a = new Asked(exchange, r.token(), r.ttlMillis(), mono, world.now, scenario.nodes);
      id.acquires.add(a);
      id.maxToken = r.token();
    }
    a.sent |= bit;
    id.cost.onWrite(node);
    id.sentMask |= bit;
    id.releasedMask &= ~bit;
    id.writtenUntilMono = Math.max(id.writtenUntilMono, mono + a.ttlNanos);
    world.trace.asks(r.leaseId(), r.token());
  }

  private void onSend(SimLock lock, Exchange exchange, LockRequest.Extend r, int node) {
    long bit = 1L << node;
    long mono = lock.client.mono();
    Id id = lock.client.ids.get(r.leaseId());
    require(id != null && id.held != null, "extend", "not a lease: " + r.leaseId());
    require(id.end == null, "extend", "sent after the end of " + r.leaseId());
    require(r.token() == id.maxToken, "extend", "with another token");
    Asked a = null;
    for (Asked e : id.extends_) {
      a = e.exchange == exchange ? e : a;
    }
    if (a == null) {
      a = new Asked(exchange, r.token(), r.ttlMillis(), mono, world.now, scenario.nodes);
      if (id.extends_.size() > 64) { // Each change of a node's record may be followed by one.
        id.extends_.remove(0);
      }
      id.extends_.add(a);
    }
    id.cost.onExtend(node, id.held.options().leaseTime().toMillis() * Scenario.MS);
    world.trace.extends_(id.leaseId, exchange, node);
    id.extendedMask |= bit;
    id.sentMask |= bit;
    id.releasedMask &= ~bit;
    id.writtenUntilMono = Math.max(id.writtenUntilMono, mono + a.ttlNanos);
  }

  private void onSend(SimLock lock, LockRequest.Release r, int node) {
    Id id = lock.client.ids.get(r.leaseId());
    if (id == null) { // It only leaves the queue.
      leaving.computeIfAbsent(r.leaseId(), l -> new LeaseCost(lock, l)).onRelease(node);
      return;
    }
    id.cost.onRelease(node);
    require(r.token() >= id.maxToken, "release", "with a token that is too low: " + id.leaseId);
    id.releasedMask |= 1L << node;
    if (id.held != null) {
      require(r.token() == id.maxToken, "release", "with another token: " + id.leaseId);
      require(
          id.lock.client.remaining(id.held) == 0,
          "release",
          "sent while the lease still says it is valid: " + id.leaseId);
      require(r.ended(), "release", "a lease is rolled back, not released: " + id.leaseId);
    } else {
      require(!r.ended(), "release", "a roll-back claims that a lease ended: " + id.leaseId);
      id.rolledBack = true;
      world.trace.undone(id.leaseId);
    }
  }

  // What happens at a node.

  private static int slot(LockKeys keys, int i) {
    return slot(keys.lockKey(i));
  }

  static int slot(String lockKey) {
    char name = lockKey.charAt(9);
    if (name == SET) {
      return NAMES - 1;
    }
    return name < MANY ? name - 'a' : name - MANY;
  }

  void beforeExecution(SimNode node, LockRequest request, long clock) {
    NodeModel model = node.model;
    LockKeys keys = request.keys();
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      owner[i] = model.owner(key, clock);
      expires[i] = model.expiresMillis(key);
      fence[i] = model.fence(key, clock);
      ended[i] = model.ended(key, clock);
    }
  }

  void afterExecution(
      SimNode node, SimLink link, LockRequest request, NodeReply reply, long clock) {
    NodeModel model = node.model;
    LockKeys keys = request.keys();
    long nowMillis = clock / 1000;
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      String now = model.owner(key, clock);
      long until = model.expiresMillis(key);
      if (now != null) {
        require(until != Long.MAX_VALUE, "ttl", "a key without a time to live: " + key);
        require(
            until <= Math.max(now.equals(owner[i]) ? expires[i] : 0, nowMillis + ttl(request)),
            "ttl",
            "a key lives longer than its time to live: " + key);
      }
      String mine = id(request);
      boolean others =
          owner[i] != null && !owner[i].equals(mine) && !(request instanceof LockRequest.Break);
      if (others) {
        require(
            owner[i].equals(now) && until == expires[i],
            "owner",
            mine + " touched the key of " + owner[i]);
      }
      checkFence(node, request, reply, clock, i, key);
      if (request instanceof LockRequest.Break && reply.code() == Code.RELEASED) {
        broken(owner[i]);
      }
    }
    boolean repeated =
        request instanceof LockRequest.Acquire a
            && a.leaseId().equals(owner[0])
            && a.token() == fence[0];
    world.trace.executes(node, request, reply, repeated, clock);
    if (request instanceof LockRequest.Acquire a && reply.code() == Code.GRANTED) {
      noteAdmitted(node, link, a);
    }
  }

  private void broken(String leaseId) {
    for (SimClient client : world.clients) {
      Id id = client.ids.get(leaseId);
      if (id != null && !id.broken) {
        id.broken = true;
        id.brokenTrue = world.now;
      }
    }
  }

  private void checkFence(
      SimNode node, LockRequest request, NodeReply reply, long clock, int i, String key) {
    NodeModel model = node.model;
    int slot = slot(request.keys(), i);
    long f = model.fence(key, clock);
    long[] floor = fenceFloor[node.index];
    long[] until = floorUntil[node.index];
    if (f < floor[slot]) {
      require(clock >= until[slot], "fence", "fell at " + node.name + " for " + key);
    }
    floor[slot] = f;
    boolean wrote =
        switch (reply.code()) {
          case GRANTED, EXTENDED, REPAIRED, RELEASED -> true;
          case NOT_OWNER -> !(request instanceof LockRequest.Inspect);
          default -> false;
        };
    if (wrote) {
      until[slot] = clock + (2 * scenario.longestNanos() / Scenario.MS + 60_000) * 1000;
    }
    long e = model.ended(key, clock);
    if (request instanceof LockRequest.Acquire a) {
      if (reply.code() == Code.GRANTED) {
        boolean repeat = a.leaseId().equals(owner[i]) && fence[i] == a.token();
        require(
            repeat || a.token() > fence[i], "fence", "the granted token is not above the fence");
        require(f == a.token(), "fence", "the fence is not the granted token");
        require(a.leaseId().equals(model.owner(key, clock)), "grant", "the node stored nothing");
      }
      require(e <= ended[i], "ended", "raised by an acquire");
    } else if (request instanceof LockRequest.Release r) {
      boolean storable = r.token() <= clock + 2_000_000;
      require(!storable || f >= r.token(), "fence", "not raised by a release");
      require(!storable || !r.ended() || e >= r.token(), "ended", "not raised by a release");
      require(r.ended() || e == ended[i], "ended", "raised by a roll-back");
      require(
          !r.leaseId().equals(owner[i]) || r.keepMillis() > 0 || model.owner(key, clock) == null,
          "release",
          "left the key");
    } else if (request instanceof LockRequest.Extend r) {
      boolean yes = reply.code() == Code.EXTENDED || reply.code() == Code.REPAIRED;
      if (yes && !r.leaseId().equals(owner[i])) {
        require(owner[i] == null && ended[i] < r.token(), "extend", "revived an ended lease");
      }
    }
  }

  private void noteAdmitted(SimNode server, SimLink link, LockRequest.Acquire a) {
    Asked asked = link.client.ids.get(a.leaseId()).acquire(a.token());
    if (scenario.changesSets()
        && !link.unreadable
        && !world.sets.mistakes.isForeign(server)
        && Rounds.isAdmitted(asked.exchange, server.record())) {
      asked.admitted |= 1L << link.node.index;
    }
  }

  private static long ttl(LockRequest request) {
    return switch (request.operation()) {
      case ACQUIRE -> ((LockRequest.Acquire) request).ttlMillis();
      case EXTEND -> ((LockRequest.Extend) request).ttlMillis();
      case RELEASE -> ((LockRequest.Release) request).keepMillis();
      case ENQUEUE, INSPECT, BREAK -> 0;
    };
  }

  private static String id(LockRequest request) {
    return switch (request.operation()) {
      case ACQUIRE -> ((LockRequest.Acquire) request).leaseId();
      case EXTEND -> ((LockRequest.Extend) request).leaseId();
      case RELEASE -> ((LockRequest.Release) request).leaseId();
      case ENQUEUE, INSPECT, BREAK -> null;
    };
  }

  void nodeLost(SimNode node, SimNode.Kept kept) {
    if (kept != SimNode.Kept.ALL) {
      fencesLost(node);
    }
  }

  /**
   * The node may grant a lower token than before, until each token that its clock accepts is higher
   * than the lost fence.
   */
  void fenceEvicted(SimNode node, String name) {
    world.trace.leavesTheModel();
    fenceFloor[node.index][name.charAt(0) - 'a'] = 0;
    // A clock that is set back meanwhile makes the time longer.
    long set = 2 * (scenario.stepMicros() + scenario.skewMicros) * 1000;
    evicted.add(new Evicted(node, name, world.now, world.now + FORGETFUL_NANOS + set));
  }

  private void fencesLost(SimNode node) {
    Arrays.fill(fenceFloor[node.index], 0);
  }

  // What a client receives, and what its machine decides.

  void onReplyDelivered(
      SimLock lock, Exchange exchange, int node, LockRequest request, NodeReply reply) {
    world.coverage.count(request.getClass(), reply);
    lock.cost.onReply(request, reply);
    world.trace.replies(exchange, node);
    if (request instanceof LockRequest.Release r) {
      Id id = lock.client.ids.get(r.leaseId());
      LeaseCost cost = id == null ? leaving.get(r.leaseId()) : id.cost;
      if (cost != null) {
        cost.onReleaseReply(node, reply.code().definite());
      }
    } else if (request instanceof LockRequest.Enqueue) {
      require(reply.code() != Code.GRANTED, "queue", "a request to enqueue was granted");
    } else if (request instanceof LockRequest.Acquire r && reply.code() != Code.GRANTED) {
      NodeError error = reply.error();
      if (reply.code().definite()) {
        lock.client.ids.get(r.leaseId()).acquire(r.token()).no |= 1L << node;
      } else if (error != null && error.notExecuted() && lock.client.ids.containsKey(r.leaseId())) {
        Asked a = lock.client.ids.get(r.leaseId()).acquire(r.token());
        if (a != null) {
          a.refused |= 1L << node;
        }
      }
    } else if (request instanceof LockRequest.Acquire r) {
      Id id = lock.client.ids.get(r.leaseId());
      id.cost.onWrite(node);
      Asked a = id.acquire(r.token());
      a.yes |= 1L << node;
      a.connection[node] = reply.connection();
    } else if (request instanceof LockRequest.Extend r
        && (reply.code() == Code.EXTENDED || reply.code() == Code.REPAIRED)) {
      Id id = lock.client.ids.get(r.leaseId());
      for (Asked a : id.extends_) {
        if (a.exchange == exchange) {
          a.yes |= 1L << node;
          a.connection[node] = reply.connection();
        }
      }
    }
  }

  void afterEvent(SimLock lock, long readTrue, long mono, long wall) {
    world.trace.reads(readTrue);
    for (Effect effect : lock.machine.effects()) {
      cover(effect);
      if (effect instanceof Effect.Granted grant) {
        onGrant(lock, grant.lease(), readTrue, mono);
      } else if (effect instanceof Effect.Extended extended) {
        onExtended(lock, extended.lease(), mono);
      } else if (effect instanceof Effect.End end) {
        onEnd(lock, end.lease(), end.end(), mono);
      }
    }
    HeldLease lease = lock.machine.lease();
    if (lease != null) {
      require(
          lease.validity().remaining(mono, wall) > 0
              || mono - lease.validity().deadlineNanos() < lock.client.endLateNanos()
              || (lock.client.afterPauseNanos() > 0
                  && wasAsleep(lock, lease.validity().deadlineNanos())),
          "end",
          "the machine keeps a lease whose validity is over: " + lease.id());
      require(lease.end() == null, "end", "the machine keeps an ended lease: " + lease.id());
    }
    waits.afterEvent(lock, live.isEmpty());
    lock.cost.afterEvent(mono);
  }

  private void cover(Effect effect) {
    Coverage coverage = world.coverage;
    coverage.count("effect", effect.getClass());
    if (effect instanceof Effect.Refuse refuse) {
      coverage.count("refusal", refuse.report().verdict());
    } else if (effect instanceof Effect.End end) {
      coverage.count("end", end.end());
    } else if (effect instanceof Effect.Woken woken) {
      coverage.count("woken", woken.cause());
    } else if (effect instanceof Effect.ReleaseHint hint) {
      coverage.count("hint", hint.reason());
    } else if (effect instanceof Effect.Settle settle) {
      coverage.count(
          "ack",
          settle.result().failure() != null
              ? "not confirmed"
              : settle.result().ended() != null ? "already over" : "done");
    }
  }

  private void onGrant(SimLock lock, HeldLease lease, long readTrue, long mono) {
    grants++;
    Id id = lock.client.ids.get(lease.id());
    require(id != null, "grant", "of an id that was never requested");
    if (id.end == LeaseEnd.HANDED_OFF) {
      onLocalHandOff(id, lease, readTrue, mono);
      return;
    }
    require(id.held == null, "grant", "twice: " + lease.id());
    Asked a = id.acquire(lease.token());
    require(a != null, "grant", "of a token that was never requested");
    id.held = lease;
    id.cost.onGrant();
    waits.onGrant();
    world.trace.wins(id.leaseId, lease.token());
    id.grantedTrue = world.now;
    id.deadlineMono = lease.validity().deadlineNanos();
    requireDeadline(id, a);
    requireQuorum(lock, id, a, mono, false);
    requireYoung(id, a, mono);
    requireTokenOrder(id, a.token, a.firstSendTrue, a.yes);
    live.add(id);
    granted.add(id);
    requireExclusion(id);
  }

  /** Local hand-off: the grant becomes the successor's lease, and no node is asked. */
  private void onLocalHandOff(Id id, HeldLease lease, long readTrue, long mono) {
    world.trace.handsOffLocally(id.leaseId, lease.token());
    require(id.overMono == mono, "hand-off", "of a grant that was over: " + id.leaseId);
    require(mono - id.deadlineMono < 0, "hand-off", "after its deadline: " + id.leaseId);
    require(
        lease.validity().deadlineNanos() == id.deadlineMono,
        "deadline",
        id.leaseId + " has another validity after a local hand-off");
    require(id.lock.client.remaining(id.held) == 0, "hand-off", "still valid: " + id.leaseId);
    Asked a = id.acquire(id.maxToken);
    requireQuorum(id.lock, id, a, mono, false);
    requireYoung(id, a, mono);
    require(id.releasedMask == 0, "hand-off", "of a grant that is being released: " + id.leaseId);
    require(
        lease.token() - id.maxToken < HeldLease.TOKENS_PER_GRANT,
        "tokens",
        "a token that its grant does not own: " + id.leaseId);
    id.held = lease;
    id.end = null;
    id.over = false;
    id.grantedTrue = world.now;
    requireFewHandOffs(id, lease.options(), id.handOffsInRow + 1);
    // A break admits other clients, and the holder of the grant does not learn of it.
    requireTokenOrder(id, lease.token(), id.broken ? Long.MIN_VALUE : readTrue, a.yes);
    handedOffLocally++;
    world.coverage.count("hand-off", "local");
    if (lease.token() - id.maxToken == HeldLease.TOKENS_PER_GRANT - 1) {
      world.coverage.count("hand-off", "the last token of a grant");
    }
    live.add(id);
    requireExclusion(id);
  }

  private void requireYoung(Id id, Asked a, long mono) {
    require(
        mono - a.firstSendMono <= id.held.options().nodeTimeout().toNanos(),
        "age",
        "old votes counted: " + id.leaseId);
  }

  private static void requireFewHandOffs(Id id, LockOptions config, int inRow) {
    id.handOffsInRow = inRow;
    require(
        inRow <= config.maxHandOffs(),
        "hand-off",
        "in a row for the " + inRow + "th time: " + id.leaseId);
  }

  private void requireDeadline(Id id, Asked a) {
    long latest = a.firstSendMono + a.ttlNanos - id.held.options().drift().toNanos();
    require(
        id.held.validity().deadlineNanos() - latest <= 0,
        "deadline",
        id.leaseId + " trusted for longer than its first send allows");
  }

  private void requireQuorum(SimLock lock, Id id, Asked a, long mono, boolean extension) {
    int count = yes(lock, a, mono, extension);
    require(
        count >= quorum(a),
        "quorum",
        id.leaseId + " has " + count + " of " + quorum(a) + " for " + Describe.token(a.token));
  }

  /** Of the set of nodes with which the round began. */
  private int quorum(Asked a) {
    return scenario.changesSets() ? Rounds.members(a.exchange).size() / 2 + 1 : scenario.quorum();
  }

  /** Whether the node is a member, and its record admitted the round when it granted. */
  private boolean mayCount(SimLock lock, int node, Asked a, boolean extension) {
    return !scenario.changesSets()
        || (Rounds.members(a.exchange).contains(lock.client.links[node].server.name)
            && (extension || (a.admitted & 1L << node) != 0));
  }

  private int yes(SimLock lock, Asked a, long mono, boolean extension) {
    long servers = 0; // Two names of one server are one vote.
    for (int i = 0; i < scenario.nodes; i++) {
      if ((a.yes & 1L << i) == 0 || !mayCount(lock, i, a, extension)) {
        continue;
      }
      NodeStatus status = lock.client.status(i);
      boolean old =
          extension
              && status.state() == NodeStatus.State.QUARANTINED
              && mono - status.sinceNanos() >= 3 * Scenario.SECOND;
      if (status.connection() == a.connection[i]
          && (status.state() == NodeStatus.State.VOTING || old)) {
        servers |= 1L << lock.client.links[i].server.index;
      }
    }
    return Long.bitCount(servers);
  }

  private void onExtended(SimLock lock, HeldLease lease, long mono) {
    extensions++;
    Id id = lock.client.ids.get(lease.id());
    long deadline = lease.validity().deadlineNanos();
    require(mono - id.deadlineMono < 0, "extend", "revived after its deadline: " + id.leaseId);
    boolean found = deadline == id.deadlineMono; // A check, or nothing gained.
    boolean gained = !found;
    id.deadlineMono = deadline;
    for (Asked a : id.extends_) {
      boolean suffices =
          deadline - (a.firstSendMono + a.ttlNanos - lease.options().drift().toNanos()) <= 0
              && yes(lock, a, mono, true) >= quorum(a);
      if (suffices && gained) {
        world.trace.renews(id.leaseId, a.firstSendTrue);
        gained = false;
      }
      found |= suffices;
    }
    if (!found) {
      Asked last = id.extends_.get(id.extends_.size() - 1);
      requireQuorum(lock, id, last, mono, true);
      throw violation("deadline", id.leaseId + " trusted for longer than its extension allows");
    }
    requireExclusion(id);
  }

  private void requireExclusion(Id id) {
    SimClient client = id.lock.client;
    if (client.remaining(id.held) == 0) {
      return;
    }
    for (Id other : live) {
      if (other != id
          && !brokenInTime(id, other)
          && overlap(other.lock, id.lock)
          && other.lock.client.remaining(other.held) > 0) {
        throw violation(
            "exclusion",
            String.format("%s and %s are both valid, for ", id.leaseId, other.leaseId)
                + Scenario.ms(client.remaining(id.held))
                + " and "
                + Scenario.ms(other.lock.client.remaining(other.held)));
      }
    }
  }

  /**
   * Whether one of them was broken before the other was granted. A broken grant may be handed off
   * locally after that: its client has not learned of the break.
   */
  private static boolean brokenInTime(Id one, Id other) {
    return (one.broken && one.brokenTrue <= other.grantedTrue)
        || (other.broken && other.brokenTrue <= one.grantedTrue);
  }

  /** Whether an operator broke the lock of this lease. */
  boolean isBroken(SimClient client, HeldLease lease) {
    Id id = client.ids.get(lease.id());
    return id != null && id.broken;
  }

  private static boolean overlap(SimLock a, SimLock b) {
    for (String name : a.keys.names()) {
      if (b.keys.names().contains(name)) {
        return true;
      }
    }
    return false;
  }

  private void requireTokenOrder(Id id, long token, long askedTrue, long nodes) {
    for (Shown before : shown) {
      if (!overlap(before.lock, id.lock)
          || (before.token >= token && forgotten(before, id, nodes))) {
        continue;
      }
      require(before.token != token, "tokens", "two leases with one token: " + id.leaseId);
      require(
          before.token < token || before.grantedTrue >= askedTrue,
          "tokens",
          id.leaseId + " has a lower token than the earlier " + before.leaseId);
    }
    shown.add(new Shown(id.lock, id.leaseId, token, world.now, nodes));
  }

  /** Whether each node that granted both had lost the earlier fence a moment ago. */
  private boolean forgotten(Shown before, Id id, long nodes) {
    long remember = before.nodes & nodes;
    for (Evicted e : evicted) {
      if (before.grantedTrue <= e.untilTrue
          && world.now >= e.atTrue
          && id.acquires.stream().anyMatch(a -> a.firstSendTrue <= e.untilTrue)
          && before.lock.keys.names().contains(e.name)
          && id.lock.keys.names().contains(e.name)) {
        remember &= ~(1L << e.node.index);
      }
    }
    return remember == 0;
  }

  private void onEnd(SimLock lock, HeldLease lease, LeaseEnd how, long mono) {
    Id id = lock.client.ids.get(lease.id());
    require(id != null && id.held == lease, "end", "not a lease");
    require(id.end == null, "end", "twice: " + lease.id());
    id.end = how;
    id.over = true;
    id.overMono = mono;
    world.trace.ends(id.leaseId);
    live.remove(id);
    waits.onEnd(id.grantedTrue + lease.options().minimumHold().toNanos());
    if (how == LeaseEnd.HANDED_OFF) {
      handOffs++;
    }
    drawHold(id);
    long late = mono - lease.validity().deadlineNanos();
    boolean asleep = wasAsleep(lock, lease.validity().deadlineNanos());
    require(
        late <= lock.client.endLateNanos() || asleep,
        "end",
        lease.id() + " ended " + late + " ns after its deadline");
    require(lock.client.remaining(lease) == 0, "end", "valid after its end: " + lease.id());
  }

  /** A timer that is due while its process sleeps fires late after the process wakes up. */
  private boolean wasAsleep(SimLock lock, long deadlineMono) {
    long awake =
        lock.client.resumedMono() + scenario.timerLateNanos + lock.client.afterPauseNanos();
    return awake - deadlineMono >= 0;
  }

  void afterEffects(SimLock lock) {
    List<Id> open = lock.openIds;
    if (open.isEmpty()) {
      return;
    }
    long mono = lock.client.mono();
    Id newest = open.get(open.size() - 1);
    for (int i = open.size() - 1; i >= 0; i--) {
      Id id = open.get(i);
      if (id.held == null && !id.over) {
        id.over = id.rolledBack || id != newest || (lock.machine.waiting() == 0);
        id.overMono = mono;
      }
      if (id.over && isCleanedUp(lock, id, mono)) {
        open.remove(i);
      }
    }
  }

  /** Whether no release is pending. Fails if one is pending that the client could have sent. */
  private boolean isCleanedUp(SimLock lock, Id id, long mono) {
    if (mono - id.writtenUntilMono > 0) {
      return true; // Its keys have expired.
    }
    long pending = id.sentMask & ~id.releasedMask;
    if (Long.bitCount(id.sentMask) == 1) {
      long no = pending; // Nothing was asked that could be granted.
      for (Asked a : id.acquires) {
        no &= a.no;
      }
      pending &= ~no;
    }
    pending &= ~refused(id) & ~shut(lock.client);
    boolean waits = id.end == LeaseEnd.EXPIRED && lock.client.extensions().underWay() > 0;
    if (waits || id.waits) {
      id.waits = waits;
      id.turnMono = mono; // That it may begin is an event of its own, which comes later.
    }
    if (id.turnMono != 0) {
      long patience =
          scenario.config.nodeTimeout().toNanos()
              + scenario.timerLateNanos
              + lock.client.afterPauseNanos()
              + Scenario.MS;
      if (mono - id.turnMono <= patience || lock.client.resumedMono() - id.turnMono > 0) {
        return pending == 0;
      }
    }
    for (long mask = pending; mask != 0; mask &= mask - 1) {
      int node = Long.numberOfTrailingZeros(mask);
      if (lock.client.status(node).usable() && isTold(lock.client, node)) {
        throw violation(
            "clean-up", id.leaseId + " is over and not released on " + world.nodes[node].name);
      }
    }
    return pending == 0;
  }

  /**
   * Whether the queues of the client know the status of this node. If the set of nodes changes, a
   * client tells them of several nodes at a time. If it is paused meanwhile, a queue may be told of
   * a node that errs by then, and waits until it works.
   */
  private boolean isTold(SimClient client, int node) {
    return !scenario.changesSets()
        || (client.links[node].statusSince() < world.now && !client.status(node).erring());
  }

  /**
   * The client has closed this node, and what it has sent there expires. If it makes another node
   * for the same server, that one knows nothing of it.
   */
  void nodeClosed(SimClient client, SimNode node) {
    for (SimLock lock : client.allLocks) {
      for (Id id : lock.openIds) {
        id.sentMask &= ~(1L << node.index);
      }
    }
  }

  /** Nodes that the client has closed: it sends nothing more, and the keys expire. */
  private static long shut(SimClient client) {
    long nodes = 0;
    for (SimLink link : client.links) {
      nodes |= link.isShut() ? 1L << link.node.index : 0;
    }
    return nodes;
  }

  /** Nodes that refused to execute every request sent before the release. */
  private static long refused(Id id) {
    long refused = ~id.extendedMask;
    for (Asked a : id.acquires) {
      refused &= a.refused | ~a.sent;
    }
    return refused;
  }

  void idle(SimLock lock) {
    waits.remove(lock);
    require(lock.machine.waiting() == 0, "idle", "a caller waits");
    require(lock.machine.lease() == null, "idle", "a lease is held");
    require(lock.machine.pendingReleases() == 0, "idle", "clean-up is pending");
    for (Id id : lock.openIds) {
      if (id.over && id.end != LeaseEnd.HANDED_OFF) {
        require(isCleanedUp(lock, id, lock.client.mono()), "idle", "not released: " + id.leaseId);
      }
    }
  }

  private void drawHold(Id id) {
    world.span(
        id.lock.client.name(),
        History.Kind.HOLDS,
        id.grantedTrue,
        world.now,
        id.held.token(),
        id.leaseId + (id.end == null ? ", its process is gone" : " " + id.end));
  }

  void clientGone(SimClient client) {
    for (Id id : live) {
      if (id.lock.client == client) {
        drawHold(id);
        world.trace.forgets(id.leaseId);
      }
    }
    live.removeIf(id -> id.lock.client == client);
    waits.clientGone(client);
  }

  /**
   * Whether the node may lose this key silently: enough other nodes keep it for as long as the
   * lease may be trusted.
   */
  boolean mayForget(SimNode node, String key) {
    String leaseId = node.model.owner(key, node.clock());
    if (leaseId == null) {
      return true;
    }
    Id id = null;
    for (SimClient client : world.clients) {
      id = id == null ? client.ids.get(leaseId) : id;
    }
    if (id == null || id.gone || !id.lock.client.alive) {
      return true;
    }
    SimClient client = id.lock.client;
    long left = id.writtenUntilMono - client.mono();
    int keeps = 0;
    for (SimNode n : world.nodes) {
      if (n != node && n.up && leaseId.equals(n.model.owner(key, n.clock()))) {
        long lives = n.model.expiresMillis(key) * Scenario.MS - n.clock() * 1000;
        keeps += lives >= left - scenario.config.drift().toNanos() ? 1 : 0;
      }
    }
    return keeps >= scenario.nodes - scenario.quorum() + 1;
  }

  /** Every user has released what it held: a lease that is left has no holder. */
  void requireNoneHeld() {
    for (Id id : live) {
      require(!id.lock.client.alive, "leak", "no user knows of the lease " + id.leaseId);
    }
  }

  /** A client that was closed while all nodes worked has left no key of a lease on any node. */
  void requireNoKeys(SimClient client) {
    if (scenario.options.minimumHold().isZero()) {
      for (SimNode node : world.nodes) {
        for (LockKeys keys : scenario.keySets) {
          for (int i = 0; i < keys.size(); i++) {
            String owner = node.model.owner(keys.lockKey(i), node.clock());
            require(
                !client.ids.containsKey(owner),
                "close",
                client.name() + " has left a key at " + node.name + " when it was closed");
          }
        }
      }
    }
  }

  /** After the end of the run no key may be left. */
  void atEnd() {
    for (Id id : granted) {
      if (id.lock.client.alive) {
        require(id.end != null, "end", "the holder was not told the end of " + id.leaseId);
      }
    }
    for (SimNode node : world.nodes) {
      for (LockKeys keys : scenario.keySets) {
        for (int i = 0; i < keys.size(); i++) {
          require(
              node.model.owner(keys.lockKey(i), node.clock()) == null,
              "leftover",
              keys.lockKey(i)
                  + " at "
                  + node.name
                  + " of "
                  + node.model.owner(keys.lockKey(i), node.clock()));
        }
      }
    }
  }
}
