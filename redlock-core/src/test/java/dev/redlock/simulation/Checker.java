package dev.redlock.simulation;

import dev.redlock.LeaseEnd;
import dev.redlock.internal.memory.NodeModel;
import dev.redlock.internal.protocol.Exchange;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Order;
import dev.redlock.internal.protocol.TokenWindow;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What must hold, checked after every event of a machine and every execution at a node. It keeps
 * its own books from what crosses the wire, and trusts nothing that the machines say about
 * themselves.
 */
final class Checker {
  private final World world;
  private final Scenario scenario;
  private final Map<String, Id> ids = new HashMap<>();
  private final List<Id> live = new ArrayList<>();
  private final List<Id> granted = new ArrayList<>();
  private final List<Shown> shown = new ArrayList<>();
  private final long[][] fenceFloor;
  private final long[][] floorUntil;

  private final Lines lines = new Lines();

  /** Whether fences may still be relied on: false once one was evicted. */
  private boolean orderHolds = true;

  int grants;
  int extensions;
  int handOffs;
  int passedOn;

  // The node's keys before the execution that is being checked.
  private final String[] owner = new String[2];
  private final long[] expires = new long[2];
  private final long[] fence = new long[2];
  private final long[] ended = new long[2];

  Checker(World world) {
    this.world = world;
    scenario = world.scenario;
    fenceFloor = new long[scenario.nodes][2];
    floorUntil = new long[scenario.nodes][2];
  }

  /** One lease id and everything that was sent about it. */
  static final class Id {
    final String leaseId;
    final SimLock lock;
    final List<Asked> acquires = new ArrayList<>(2);
    final List<Asked> extends_ = new ArrayList<>(4);
    long sentMask;
    long releasedMask;
    long followedMask;
    long maxToken;
    long deadlineMono;
    long writtenUntilMono = Long.MIN_VALUE;
    boolean rolledBack;
    boolean broken;
    boolean over;
    long overMono;
    Id follows;
    HeldLease held;
    LeaseEnd end;
    long grantedTrue;
    boolean gone;

    /** How often in a row it had been handed on when it came here. */
    int handedOn;

    Id(String leaseId, SimLock lock) {
      this.leaseId = leaseId;
      this.lock = lock;
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

  /** One question and who said yes. */
  private static final class Asked {
    final Exchange exchange;
    final long token;
    final long ttlNanos;
    final long firstSendMono;
    final long firstSendTrue;
    long yes;
    long no;
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

  /** A token that a user has, since when. */
  private record Shown(SimLock lock, String leaseId, long token, long grantedTrue) {}

  private static Violation violation(String rule, String detail) {
    return new Violation(rule, detail);
  }

  private static void require(boolean holds, String rule, Object detail) {
    if (!holds) {
      throw violation(rule, detail.toString());
    }
  }

  /** Asks for a place in line and for nothing else: no node may ever grant it. */
  private static boolean onlyStands(LockRequest request) {
    return request instanceof LockRequest.Acquire r && r.token() == 1 && r.line() != null;
  }

  // What leaves a client.

  void onSend(SimLock lock, Exchange exchange, LockRequest request, int node) {
    long bit = 1L << node;
    long mono = lock.client.mono();
    if (onlyStands(request)) {
      return;
    }
    if (request instanceof LockRequest.Acquire r) {
      Id id = ids.get(r.leaseId());
      if (id == null) {
        id = new Id(r.leaseId(), lock);
        ids.put(r.leaseId(), id);
        lock.openIds.add(id);
      }
      require(!id.rolledBack && !id.over, "reuse", "lease id used again: " + id.leaseId);
      Asked a = id.acquire(r.token());
      if (a == null) {
        require(
            r.token() % TokenWindow.PER_GRANT == 0,
            "tokens",
            "one that belongs to another's grant");
        require(
            r.token() > id.maxToken, "tokens", "a later round of one attempt has a lower token");
        a = new Asked(exchange, r.token(), r.ttlMillis(), mono, world.now, scenario.nodes);
        id.acquires.add(a);
        id.maxToken = r.token();
      }
      id.sentMask |= bit;
      id.releasedMask &= ~bit;
      id.writtenUntilMono = Math.max(id.writtenUntilMono, mono + a.ttlNanos);
      if (r.previousLeaseId() != null) {
        Id before = ids.get(r.previousLeaseId());
        require(before != null && before.held != null, "hand-off", "after what was no lease");
        requireSilenced(before, "hand-off");
        require(
            r.previousToken() == before.maxToken, "hand-off", "with another token: " + id.leaseId);
        id.follows = before;
      }
    } else if (request instanceof LockRequest.Extend r) {
      Id id = ids.get(r.leaseId());
      require(id != null && id.held != null, "extend", "of what is no lease: " + r.leaseId());
      require(id.end == null, "extend", "sent after the end of " + r.leaseId());
      require(r.token() == id.maxToken, "extend", "with another token");
      Asked a = null;
      for (Asked e : id.extends_) {
        a = e.exchange == exchange ? e : a;
      }
      if (a == null) {
        a = new Asked(exchange, r.token(), r.ttlMillis(), mono, world.now, scenario.nodes);
        if (id.extends_.size() > 8) {
          id.extends_.remove(0);
        }
        id.extends_.add(a);
      }
      id.sentMask |= bit;
      id.releasedMask &= ~bit;
      id.writtenUntilMono = Math.max(id.writtenUntilMono, mono + a.ttlNanos);
    } else if (request instanceof LockRequest.Release r) {
      Id id = ids.get(r.leaseId());
      if (id == null) {
        return; // Leaving the line.
      }
      require(r.token() >= id.maxToken, "release", "with too low a token: " + id.leaseId);
      id.releasedMask |= bit;
      if (id.held != null) {
        require(r.token() == id.maxToken, "release", "with another token: " + id.leaseId);
        requireSilenced(id, "release");
        require(r.ended(), "release", "a lease is rolled back, not released: " + id.leaseId);
      } else {
        require(!r.ended(), "release", "a roll-back claims that a lease ended: " + id.leaseId);
        id.rolledBack = true;
      }
    }
  }

  private static void requireSilenced(Id id, String rule) {
    require(
        id.lock.client.remaining(id.held) == 0,
        rule,
        "sent while the lease still says it is valid: " + id.leaseId);
  }

  // What happens at a node.

  private static int slot(LockKeys keys, int i) {
    return keys.lockKey(i).charAt(9) - 'a';
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

  void afterExecution(SimNode node, LockRequest request, NodeReply reply, long clock) {
    lines.executed(node, request, reply, clock);
    NodeModel model = node.model;
    LockKeys keys = request.keys();
    long nowMillis = clock / 1000;
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      String now = model.owner(key, clock);
      long until = model.expiresMillis(key);
      if (now != null) {
        require(until != Long.MAX_VALUE, "ttl", "a key without time to live: " + key);
        require(
            until <= Math.max(now.equals(owner[i]) ? expires[i] : 0, nowMillis + ttl(request)),
            "ttl",
            "a key outlives its time to live: " + key);
      }
      String mine = id(request);
      boolean others =
          owner[i] != null && !owner[i].equals(mine) && !(request instanceof LockRequest.Break);
      if (others
          && request instanceof LockRequest.Acquire a
          && owner[i].equals(a.previousLeaseId())) {
        others = false;
      }
      if (others) {
        require(
            owner[i].equals(now) && until == expires[i],
            "owner",
            mine + " touched the key of " + owner[i]);
      }
      checkFence(node, request, reply, clock, i, key);
    }
    if (request instanceof LockRequest.Break && reply.code() == ReplyCode.RELEASED) {
      for (int i = 0; i < keys.size(); i++) {
        Id id = owner[i] == null ? null : ids.get(owner[i]);
        if (id != null) {
          id.broken = true;
        }
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
      until[slot] = clock + (2 * scenario.maxLeaseNanos / Scenario.MS + 60_000) * 1000;
    }
    long e = model.ended(key, clock);
    if (request instanceof LockRequest.Acquire a) {
      if (reply.code() == ReplyCode.GRANTED) {
        boolean repeat = a.leaseId().equals(owner[i]) && fence[i] == a.token();
        require(repeat || a.token() > fence[i], "fence", "granted at or below it");
        require(f == a.token(), "fence", "is not the granted token");
        require(a.leaseId().equals(model.owner(key, clock)), "grant", "stored nothing");
        require(repeat || e >= a.previousToken(), "ended", "not raised by a hand-off");
      }
      require(e <= Math.max(ended[i], a.previousToken()), "ended", "raised by an acquire");
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
      boolean yes = reply.code() == ReplyCode.EXTENDED || reply.code() == ReplyCode.REPAIRED;
      if (yes && !r.leaseId().equals(owner[i])) {
        require(owner[i] == null && ended[i] < r.token(), "extend", "revived an ended lease");
      }
    }
  }

  private static long ttl(LockRequest request) {
    if (request instanceof LockRequest.Acquire r) {
      return r.ttlMillis();
    } else if (request instanceof LockRequest.Extend r) {
      return r.ttlMillis();
    } else if (request instanceof LockRequest.Release r) {
      return r.keepMillis();
    }
    return 0;
  }

  private static String id(LockRequest request) {
    if (request instanceof LockRequest.Acquire r) {
      return r.leaseId();
    } else if (request instanceof LockRequest.Extend r) {
      return r.leaseId();
    } else if (request instanceof LockRequest.Release r) {
      return r.leaseId();
    }
    return null;
  }

  void nodeLost(SimNode node, SimNode.Kept kept) {
    if (kept != SimNode.Kept.ALL) {
      fencesLost(node);
      lines.lost(node);
    }
  }

  void fenceEvicted(SimNode node) {
    fencesLost(node);
    orderHolds = false;
  }

  private void fencesLost(SimNode node) {
    fenceFloor[node.index][0] = 0;
    fenceFloor[node.index][1] = 0;
  }

  // What comes back to a client, and what its machine makes of it.

  void onReplyDelivered(Exchange exchange, int node, LockRequest request, NodeReply reply) {
    if (onlyStands(request)) {
      require(reply.code() != ReplyCode.GRANTED, "line", "a question for a place was granted");
    } else if (request instanceof LockRequest.Acquire r && reply.code() != ReplyCode.GRANTED) {
      if (reply.code().definite()) {
        ids.get(r.leaseId()).acquire(r.token()).no |= 1L << node;
      }
    } else if (request instanceof LockRequest.Acquire r) {
      Id id = ids.get(r.leaseId());
      Asked a = id.acquire(r.token());
      a.yes |= 1L << node;
      a.connection[node] = reply.connection();
      if (id.follows != null) {
        id.follows.followedMask |= 1L << node;
      }
    } else if (request instanceof LockRequest.Extend r
        && (reply.code() == ReplyCode.EXTENDED || reply.code() == ReplyCode.REPAIRED)) {
      Id id = ids.get(r.leaseId());
      for (Asked a : id.extends_) {
        if (a.exchange == exchange) {
          a.yes |= 1L << node;
          a.connection[node] = reply.connection();
        }
      }
    }
  }

  void afterEvent(SimLock lock, long readTrue, long mono, long wall) {
    for (Order order : lock.machine.orders()) {
      if (order instanceof Order.Grant grant) {
        onGrant(lock, grant.lease(), readTrue, mono);
      } else if (order instanceof Order.Extended extended) {
        onExtended(lock, extended.lease(), mono);
      } else if (order instanceof Order.End end) {
        onEnd(lock, end.lease(), end.end(), mono);
      }
    }
    HeldLease lease = lock.machine.lease();
    if (lease != null) {
      require(
          lease.validity().remaining(mono, wall) > 0,
          "end",
          "the machine keeps a lease whose validity is over: " + lease.id());
      require(lease.end() == null, "end", "the machine keeps an ended lease: " + lease.id());
    }
  }

  private void onGrant(SimLock lock, HeldLease lease, long readTrue, long mono) {
    grants++;
    Id id = ids.get(lease.id());
    require(id != null, "grant", "of an id that was never asked for");
    if (id.end == LeaseEnd.HANDED_OFF) {
      onPassedOn(id, lease, readTrue, mono);
      return;
    }
    require(id.held == null, "grant", "twice: " + lease.id());
    Asked a = id.acquire(lease.token());
    require(a != null, "grant", "of a token that was never asked for");
    id.held = lease;
    if (id.follows != null) {
      requireFewHandOffs(id, id.follows.handedOn + 1);
    }
    id.grantedTrue = world.now;
    id.deadlineMono = lease.validity().deadlineNanos();
    requireDeadline(id, a);
    requireQuorum(lock, id, a, mono, false);
    requireYoung(id, a, mono);
    requireTokenOrder(id, a.token, a.firstSendTrue);
    live.add(id);
    granted.add(id);
    requireExclusion(id);
  }

  /** The same grant becomes the next one's lease, without a question. */
  private void onPassedOn(Id id, HeldLease lease, long readTrue, long mono) {
    require(id.overMono == mono, "hand-off", "of a grant that was over: " + id.leaseId);
    require(mono - id.deadlineMono < 0, "hand-off", "after its deadline: " + id.leaseId);
    require(
        lease.validity().deadlineNanos() == id.deadlineMono,
        "deadline",
        id.leaseId + " has another validity because it was handed on");
    requireSilenced(id, "hand-off");
    Asked a = id.acquire(id.maxToken);
    requireQuorum(id.lock, id, a, mono, false);
    requireYoung(id, a, mono);
    require(id.releasedMask == 0, "hand-off", "of what is being freed: " + id.leaseId);
    require(
        lease.token() - id.maxToken < TokenWindow.PER_GRANT,
        "tokens",
        "beyond those of its grant: " + id.leaseId);
    id.held = lease;
    id.end = null;
    id.over = false;
    id.grantedTrue = world.now;
    requireFewHandOffs(id, id.handedOn + 1);
    // Whoever broke it has let others in, and a grant tells nobody that it is over.
    requireTokenOrder(id, lease.token(), id.broken ? Long.MIN_VALUE : readTrue);
    passedOn++;
    live.add(id);
    requireExclusion(id);
  }

  private void requireYoung(Id id, Asked a, long mono) {
    require(
        mono - a.firstSendMono <= scenario.terms.nodeTimeoutNanos(),
        "age",
        "old votes counted: " + id.leaseId);
  }

  private void requireFewHandOffs(Id id, int inRow) {
    id.handedOn = inRow;
    require(
        inRow <= scenario.options.maxHandOffs(),
        "hand-off",
        "in a row for the " + inRow + "th time: " + id.leaseId);
  }

  private void requireDeadline(Id id, Asked a) {
    long most = a.firstSendMono + a.ttlNanos - scenario.terms.driftNanos();
    require(
        id.held.validity().deadlineNanos() - most <= 0,
        "deadline",
        id.leaseId + " trusted for longer than its first send allows");
  }

  private void requireQuorum(SimLock lock, Id id, Asked a, long mono, boolean extension) {
    int count = yes(lock, a, mono, extension);
    require(
        count >= scenario.quorum(),
        "quorum",
        id.leaseId
            + " has "
            + count
            + " of "
            + scenario.quorum()
            + " for "
            + Describe.token(a.token));
  }

  private int yes(SimLock lock, Asked a, long mono, boolean extension) {
    int count = 0;
    for (int i = 0; i < scenario.nodes; i++) {
      if ((a.yes & 1L << i) == 0) {
        continue;
      }
      NodeStatus status = lock.client.status(i);
      boolean old =
          extension
              && status.state() == NodeStatus.State.QUARANTINED
              && mono - status.sinceNanos() >= 3 * Scenario.SECOND;
      if (status.connection() == a.connection[i]
          && (status.state() == NodeStatus.State.VOTING || old)) {
        count++;
      }
    }
    return count;
  }

  private void onExtended(SimLock lock, HeldLease lease, long mono) {
    extensions++;
    Id id = ids.get(lease.id());
    long deadline = lease.validity().deadlineNanos();
    require(mono - id.deadlineMono < 0, "extend", "revived after its deadline: " + id.leaseId);
    boolean found = deadline == id.deadlineMono; // Only looked at, or nothing gained.
    id.deadlineMono = deadline;
    for (Asked a : id.extends_) {
      found |=
          deadline - (a.firstSendMono + a.ttlNanos - scenario.terms.driftNanos()) <= 0
              && mono - a.firstSendMono <= scenario.terms.nodeTimeoutNanos()
              && yes(lock, a, mono, true) >= scenario.quorum();
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
    if (id.broken || client.remaining(id.held) == 0) {
      return;
    }
    for (Id other : live) {
      if (other != id
          && !other.broken
          && overlap(other.lock, id.lock)
          && other.lock.client.remaining(other.held) > 0) {
        throw violation(
            "exclusion",
            id.leaseId
                + " and "
                + other.leaseId
                + " are both valid, for "
                + Scenario.ms(client.remaining(id.held))
                + " and "
                + Scenario.ms(other.lock.client.remaining(other.held)));
      }
    }
  }

  private static boolean overlap(SimLock a, SimLock b) {
    for (String name : a.keys.names()) {
      if (b.keys.names().contains(name)) {
        return true;
      }
    }
    return false;
  }

  private void requireTokenOrder(Id id, long token, long askedTrue) {
    if (!orderHolds) {
      return;
    }
    for (Shown before : shown) {
      if (!overlap(before.lock, id.lock)) {
        continue;
      }
      require(before.token != token, "tokens", "two leases with one token: " + id.leaseId);
      require(
          before.token < token || before.grantedTrue >= askedTrue,
          "tokens",
          id.leaseId + " has a lower token than the earlier " + before.leaseId);
    }
    shown.add(new Shown(id.lock, id.leaseId, token, world.now));
  }

  private void onEnd(SimLock lock, HeldLease lease, LeaseEnd how, long mono) {
    Id id = ids.get(lease.id());
    require(id != null && id.held == lease, "end", "of what is no lease");
    require(id.end == null, "end", "twice: " + lease.id());
    id.end = how;
    id.over = true;
    id.overMono = mono;
    live.remove(id);
    if (how == LeaseEnd.HANDED_OFF) {
      handOffs++;
    }
    drawn(id);
    long late = mono - lease.validity().deadlineNanos();
    // A timer that came due in the sleep of its process fires a timer's lateness after its end.
    long awake = lock.client.resumedMono() + scenario.timerLateNanos;
    boolean asleep = awake - lease.validity().deadlineNanos() >= 0;
    require(late <= 0 || asleep, "end", lease.id() + " ended " + late + " ns after its deadline");
    require(lock.client.remaining(lease) == 0, "end", "valid after its end: " + lease.id());
  }

  void afterOrders(SimLock lock) {
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

  /** Whether nothing is owed any more; if something is owed that could have been sent, it fails. */
  private boolean isCleanedUp(SimLock lock, Id id, long mono) {
    if (mono - id.writtenUntilMono > 0) {
      return true; // Its keys are gone by themselves.
    }
    long owed = id.sentMask & ~id.releasedMask;
    if (Long.bitCount(id.sentMask) == 1) {
      long no = owed; // Knocks, and the door said no to each.
      for (Asked a : id.acquires) {
        no &= a.no;
      }
      owed &= ~no;
    }
    if (id.end == LeaseEnd.HANDED_OFF) {
      owed &= ~id.followedMask;
      long patience = scenario.terms.nodeTimeoutNanos() + scenario.timerLateNanos + Scenario.MS;
      if (mono - id.overMono <= patience || lock.client.resumedMono() - id.overMono > 0) {
        return owed == 0;
      }
    }
    for (long mask = owed; mask != 0; mask &= mask - 1) {
      int node = Long.numberOfTrailingZeros(mask);
      if (lock.client.status(node).usable()) {
        throw violation(
            "clean-up", id.leaseId + " is over and not released on " + world.nodes[node].name);
      }
    }
    return owed == 0;
  }

  void idle(SimLock lock) {
    require(lock.machine.waiting() == 0, "idle", "somebody waits");
    require(lock.machine.lease() == null, "idle", "a lease is held");
    require(lock.machine.pendingCleanups() == 0, "idle", "clean-up is pending");
    for (Id id : lock.openIds) {
      if (id.over && id.end != LeaseEnd.HANDED_OFF) {
        require(isCleanedUp(lock, id, lock.client.mono()), "idle", "forgot " + id.leaseId);
      }
    }
  }

  private void drawn(Id id) {
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
        drawn(id);
      }
    }
    live.removeIf(id -> id.lock.client == client);
    for (SimUser ignored : client.users) {
      // Their wishes die with the process.
    }
  }

  /**
   * Whether the node may lose this key without notice: enough others keep it for as long as the
   * lease may be trusted.
   */
  boolean mayForget(SimNode node, String key) {
    String who = node.model.owner(key, node.clock());
    if (who == null) {
      return true;
    }
    Id id = ids.get(who);
    if (id == null || id.gone) {
      return true;
    }
    SimClient client = id.lock.client;
    if (!client.alive) {
      return true;
    }
    long left = id.writtenUntilMono - client.mono();
    int keeps = 0;
    for (SimNode n : world.nodes) {
      if (n != node && n.up && who.equals(n.model.owner(key, n.clock()))) {
        long lives = n.model.expiresMillis(key) * Scenario.MS - n.clock() * 1000;
        keeps += lives >= left - scenario.terms.driftNanos() ? 1 : 0;
      }
    }
    return keeps >= scenario.nodes - scenario.quorum() + 1;
  }

  /** All is over: nothing may be left. */
  void atEnd() {
    for (Id id : granted) {
      if (id.lock.client.alive) {
        require(id.end != null, "end", "never told the end of " + id.leaseId);
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
