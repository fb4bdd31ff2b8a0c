package dev.redlock.simulation;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The kind of world that a seed makes: sizes, lock options, clocks and faults. */
final class Scenario {
  static final long MS = 1_000_000L;
  static final long SECOND = 1_000_000_000L;

  /** Longer than the guard time of the leases with which a deployment begins. */
  private static final Duration LONGER = Duration.ofSeconds(12);

  /** Whether the world stays within the assumptions of the protocol. */
  enum Setting {
    /** Every fault that the protocol tolerates. */
    NORMAL,
    /** No restart guard: a node that lost its keys votes at once. */
    GUARD_OFF,
    /** Clocks run apart by more than the drift allowance. */
    FAST_CLOCKS,
    /** More keys are lost than a quorum can tolerate. */
    FORGETFUL,
    /** Votes may be of any age, for mutants that need it. */
    LONG_ROUNDS,
    /** Events that are rare or absent in seeds of NORMAL, within the same assumptions. */
    WIDE,
    /** As WIDE, with the client as it ships around the protocol. */
    SHELL,
    /** The small worlds of NORMAL, with the client as it ships around the protocol. */
    SHELL_NORMAL,
    /** As NORMAL; an acquire asks a majority of the nodes first. */
    MAJORITY,
    /** As SHELL_NORMAL; an acquire asks a majority of the nodes first. */
    SHELL_MAJORITY,
    /** As SHELL_NORMAL; the set of nodes changes, and the nodes keep a record of it. */
    SHELL_SETS
  }

  private static final LockKeys A = LockKeys.of("redlock", List.of("a"));
  private static final LockKeys B = LockKeys.of("redlock", List.of("b"));
  private static final LockKeys AB = LockKeys.of("redlock", List.of("a", "b"));
  private static final List<LockKeys> ONE = List.of(A);
  private static final List<LockKeys> SEVERAL = List.of(A, B, AB);
  private static final LockKeys C = LockKeys.of("redlock", List.of("c"));
  private static final LockKeys AC = LockKeys.of("redlock", List.of("a", "c"));
  private static final LockKeys BC = LockKeys.of("redlock", List.of("b", "c"));
  private static final LockKeys ABC = LockKeys.of("redlock", List.of("a", "b", "c"));
  private static final List<List<LockKeys>> OVERLAPPING =
      List.of(
          SEVERAL, List.of(A, AB, BC), List.of(AB, BC, AC), List.of(A, ABC), List.of(C, ABC, AC));

  final Setting setting;
  final RestartGuard guard;
  final int nodes;
  final int clients;
  final int users;
  final List<LockKeys> keySets;
  final LockOptions options;

  /** The initial and the lowest limit of a client's concurrent rounds. */
  int roundsAtOnce = 256;

  /** Whether the nodes keep a record of the node set. */
  boolean records;

  /** How many nodes the first list has; the others are spare. */
  final int firstMembers;

  /** How many nodes, the last servers, belong to a second deployment. */
  int foreign;

  /** How many nodes, the last, are names of other servers; see {@link Mistakes}. */
  int namesOnly;

  /** The numbers of {@link Mistakes}; null in a world without. */
  Rng mistakes;

  /** How many nodes the clients are given; 0: all. They reach the others as siblings only. */
  int given;

  final LockOptions config;
  final long ttlNanos;

  /** The longest lease time with which a deployment begins. */
  final long maxLeaseNanos;

  /** What some clients use when operators change the longest lease time; null if none do. */
  @Nullable LockOptions longer;

  final long safetyNanos;
  final int safetyEvents;
  final long thinkNanos;
  final long holdNanos;
  final long waitNanos;

  final int clientPpm;
  final int nodePpm;
  final long skewMicros;

  final long delayNanos;
  final long jitterNanos;
  final double slowMessage;
  final long slowNanos;

  final double dropRequest;
  final double dropReply;
  final double duplicate;
  final double error;
  final double hintLost;
  final double hintLate;
  final double pauseInStep;
  final long timerLateNanos;
  final long pauseNanos;
  final boolean bus;
  final double cancel;
  final double singleTry;
  final double userExtend;

  /** Mean time between faults of each kind; absent for a kind that does not occur. */
  private final Map<Fault, Long> faultEvery = new EnumMap<>(Fault.class);

  final boolean walksBack;

  /** The probability that a server has just started and must not vote yet. */
  final double fresh;

  /** Kinds of faults, apart from those of single messages. */
  enum Fault {
    RESET,
    STALL,
    NODE_CRASH,
    NODE_PAUSE,
    NODE_STEP,
    CLIENT_PAUSE,
    CLIENT_SUSPEND,
    CLIENT_CRASH,
    CLIENT_CLOSE,
    WALL_STEP,
    SCRIPT_FLUSH,
    NODE_ERRS,
    FLUSH,
    EVICT,
    FALSE_HINT,
    BREAK,
    INSPECT
  }

  /** The probability that a client takes part in an election. */
  final double elections;

  /** How many threads of a client call the blocking methods. */
  final int threads;

  /** The probability that a client has such threads, and that a thread of its own closes it. */
  final double ownThread;

  /** The probability that a worker hangs while it holds the lock. */
  final double hang;

  final double userThrows;
  final double userBlocks;

  /** The options of a call: all of them are in use on each name. */
  private final List<LockOptions> variants = new ArrayList<>();

  LockOptions anyOptions(Rng rng) {
    return variants.size() == 1 ? options : variants.get(rng.below(variants.size()));
  }

  Scenario(Setting setting, Rng rng) {
    this.setting = setting;
    boolean wide = isWide();
    boolean shell = isShell();
    boolean rich = wide || shell; // With all that users may do.
    boolean sets = changesSets();
    records = sets;
    int fixed = (int) rng.oneOf(3, 3, 3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 1, 2, 4, 7);
    int members = sets ? (int) rng.oneOf(1, 2, 2, 3, 3, 3, 3, 4) : fixed;
    double kind = sets ? rng.branch().next() : 1;
    boolean lengthens = kind > 0.63 && kind < 0.78; // None of the seeds in SetsTest.
    firstMembers = lengthens ? 3 : members;
    if (kind < 0.3) {
      mistakes = rng.branch();
      foreign = 1 + mistakes.below(2);
      namesOnly = 2;
    }
    nodes = (sets ? firstMembers + 1 + rng.below(3) : fixed) + foreign + namesOnly;
    // Many callers with little work: hand-offs without a round, up to the last token of a grant.
    boolean rush = wide && rng.chance(0.3);
    clients = rush ? 1 + rng.below(2) : lengthens ? 3 : (int) rng.between(wide ? 1 : 2, 4);
    users = rush ? 12 : (int) (wide ? rng.oneOf(1, 2, 3, 6) : rng.oneOf(1, 1, 2, 3));
    keySets =
        rush && rng.chance(0.5)
            ? ONE
            : wide
                ? OVERLAPPING.get(rng.below(OVERLAPPING.size()))
                : lengthens || rng.chance(0.75) ? ONE : SEVERAL;
    long ttl = rng.spread(sets ? 500 : 150, 5_000);
    long timeout =
        Math.min(
            setting == Setting.LONG_ROUNDS ? 1000 : 500,
            Math.max(5, ttl / (setting == Setting.LONG_ROUNDS ? 2 : rng.between(3, 12))));
    if (timeout > 100 && rng.chance(0.5)) {
      timeout = 100;
    }
    options =
        LockOptions.builder()
            .leaseTime(Duration.ofMillis(ttl))
            .nodeTimeout(Duration.ofMillis(timeout))
            .autoExtend(rng.chance(0.8))
            .holdCap(Duration.ofMillis(ttl * rng.between(1, 12)))
            .minimumHold(Duration.ofMillis(rng.chance(0.1) ? rng.between(1, ttl / 2) : 0))
            .queueBound(rng.chance(0.05) ? 1 : 1000)
            .maxHandOffs(
                (int) (rush ? 200 : wide ? rng.oneOf(1, 3, 16, 200) : rng.oneOf(0, 1, 3, 16)))
            .fair(rng.chance(0.2))
            .majorityFirst(setting == Setting.MAJORITY || setting == Setting.SHELL_MAJORITY)
            .pollInterval(Duration.ofMillis(rng.between(Math.max(10, ttl / 30), 1000)))
            .build();
    config = options;
    maxLeaseNanos = rng.chance(0.5) ? ttl * MS : Math.max(ttl * MS, 5 * SECOND);
    if (lengthens) {
      longer = options.toBuilder().leaseTime(LONGER).holdCap(LONGER.multipliedBy(2)).build();
    }
    ttlNanos = lengthens ? LONGER.toNanos() : ttl * MS;
    int few = (int) rng.between(100, 500) * (wide && shell ? 4 : 1) * (rush ? 4 : 1);
    safetyEvents = sets ? 40 * few : few;
    safetyNanos = (sets ? rng.between(25, 70) : rng.between(4, 25)) * SECOND;
    thinkNanos =
        rush ? 10_000 : rng.spread(sets ? 20 * MS : MS, lengthens ? SECOND : safetyNanos / 8);
    holdNanos = rush ? rng.spread(20_000, 300_000) : rng.spread(MS, 2 * ttlNanos);
    waitNanos = rng.spread(10 * MS, 10 * SECOND);

    boolean clocks = rng.chance(0.5);
    int fast = setting == Setting.FAST_CLOCKS ? 150_000 : 4_000;
    clientPpm = clocks || fast > 4_000 ? fast : 0;
    nodePpm = clocks ? 4_000 : 0;
    // An operator refuses a node whose clock is off by 1 s.
    skewMicros = rng.oneOf(0, 1_000, sets ? 450_000 : 900_000);

    delayNanos = rng.spread(50_000, 2 * MS);
    jitterNanos = rng.spread(10_000, 4 * MS);
    slowMessage = rng.chance(0.4) ? rng.next() * 0.1 : 0;
    slowNanos = rng.spread(timeout * MS / 4 + 1, 4 * timeout * MS + 1);

    dropRequest = rng.chance(0.25) ? rng.next() * 0.1 : 0;
    dropReply = rng.chance(0.25) ? rng.next() * 0.1 : 0;
    duplicate = rng.chance(0.2) ? rng.next() * 0.2 : 0;
    error = rng.chance(0.2) ? rng.next() * 0.1 : 0;
    hintLost = rng.chance(0.3) ? rng.next() : 0;
    hintLate = rng.chance(0.3) ? rng.next() : 0;
    pauseInStep = rng.chance(0.25) ? rng.next() * (shell ? 0.05 : 0.02) : 0;
    pauseNanos = rng.spread(MS, 3 * ttlNanos);
    // Options of single calls may have a third of the lease time.
    timerLateNanos =
        rng.chance(0.3)
            ? Math.min(5 * MS, (wide ? Math.max(150 * MS, ttlNanos / 3) : ttlNanos) / 200)
            : 0;
    bus = rng.chance(0.2);
    cancel = rng.chance(shell ? 0.6 : 0.3) ? rng.next() * 0.3 : 0;
    singleTry = rng.chance(0.3) ? rng.next() * 0.5 : 0;
    userExtend = rng.chance(0.3) ? rng.next() : 0;
    walksBack = rng.chance(0.5);
    fresh = 0.05;
    boolean strict = rng.chance(0.2);
    guard =
        setting == Setting.GUARD_OFF
            ? RestartGuard.OFF
            : strict ? RestartGuard.MARKER : RestartGuard.UPTIME;
    for (Fault f : Fault.values()) {
      boolean on = rng.chance(f == Fault.BREAK || f == Fault.FLUSH || f == Fault.EVICT ? 0.1 : 0.2);
      if (on
          || (setting == Setting.FORGETFUL && f == Fault.EVICT)
          || (setting == Setting.GUARD_OFF && f == Fault.NODE_CRASH)) {
        faultEvery.put(f, rng.spread(safetyNanos / 16, safetyNanos));
      }
    }
    if (sets) {
      // A flush that keeps the connections is outside of the assumptions. The rule that permits an
      // eviction knows one set only.
      List.of(Fault.FLUSH, Fault.EVICT).forEach(faultEvery::remove);
    }
    if (walksBack) {
      // A wall clock that is set back hides a suspension, so a world has only one of the two
      // faults.
      faultEvery.remove(Fault.CLIENT_SUSPEND);
    }
    roundsAtOnce = rng.chance(0.5) ? 1 : 256;
    if (wide && rng.chance(0.25)) {
      faultEvery.put(Fault.NODE_STEP, safetyNanos / 32);
    }
    hang = rush ? 0.001 : 0.05;
    variants.add(options);
    if (wide && rng.chance(0.4)) {
      variants.add(variant(rng));
      variants.add(variant(rng));
    }
    elections = rich && rng.chance(0.25) ? 0.7 : 0;
    // A switch to another thread costs as much as twenty other events.
    ownThread = wide ? 0.15 : 0.05;
    threads = rich && rng.chance(ownThread) ? (int) rng.between(1, 2) : 0;
    userThrows = rich && rng.chance(0.3) ? rng.next() * 0.3 : 0;
    userBlocks = rich && rng.chance(0.3) ? rng.next() * 0.1 : 0;
  }

  /** Other options for the same names. Lease time and node timeout are not longer. */
  private LockOptions variant(Rng rng) {
    long ttl = Math.max(150, options.leaseTime().toMillis() / rng.between(1, 3));
    return options.toBuilder()
        .leaseTime(Duration.ofMillis(ttl))
        .nodeTimeout(
            Duration.ofMillis(Math.min(options.nodeTimeout().toMillis(), Math.max(5, ttl / 4))))
        .minimumHold(Duration.ZERO)
        .autoExtend(rng.chance(0.7))
        .holdCap(Duration.ofMillis(ttl * rng.between(1, 12)))
        .queueBound(rng.chance(0.1) ? 2 : 1000)
        .maxHandOffs(options.maxHandOffs() / (int) rng.between(1, 2))
        .build();
  }

  /** Mean time between faults of this kind; 0 if there are none. */
  long every(Fault f) {
    return faultEvery.getOrDefault(f, 0L);
  }

  /** A world without random faults, for histories written by hand. */
  Scenario(int nodes, int clients, LockOptions options) {
    this(nodes, clients, options, MS / 2, 0);
  }

  /** The same with another delay of the links. */
  Scenario(int nodes, int clients, LockOptions options, long delayNanos, long jitterNanos) {
    this(nodes, clients, options, delayNanos, jitterNanos, RestartGuard.UPTIME);
  }

  /** The same with another restart guard. */
  Scenario(
      int nodes,
      int clients,
      LockOptions options,
      long delayNanos,
      long jitterNanos,
      RestartGuard guard) {
    this(nodes, clients, options, delayNanos, jitterNanos, guard, ONE);
  }

  /** The same with other names. */
  Scenario(
      int nodes,
      int clients,
      LockOptions options,
      long delayNanos,
      long jitterNanos,
      RestartGuard guard,
      List<LockKeys> keySets) {
    this.guard = guard;
    setting = Setting.NORMAL;
    this.nodes = nodes;
    firstMembers = nodes;
    this.clients = clients;
    this.options = options;
    this.keySets = keySets;
    config = options;
    ttlNanos = config.leaseTime().toMillis() * MS;
    maxLeaseNanos = ttlNanos;
    this.delayNanos = delayNanos;
    slowNanos = 1;
    users = 0;
    safetyNanos = 0;
    safetyEvents = 0;
    thinkNanos = 0;
    holdNanos = 0;
    waitNanos = 0;
    clientPpm = 0;
    nodePpm = 0;
    skewMicros = 0;
    this.jitterNanos = jitterNanos;
    slowMessage = 0;
    dropRequest = 0;
    dropReply = 0;
    duplicate = 0;
    error = 0;
    hintLost = 0;
    hintLate = 0;
    pauseInStep = 0;
    timerLateNanos = 0;
    pauseNanos = 0;
    bus = false;
    cancel = 0;
    singleTry = 0;
    userExtend = 0;
    hang = 0.05;
    walksBack = false;
    fresh = 0;
    guard = RestartGuard.UPTIME;
    elections = 0;
    threads = 0;
    ownThread = 0;
    userThrows = 0;
    userBlocks = 0;
    variants.add(options);
  }

  /** With mistakes names are addresses, because a loopback name is one. */
  String nameOf(int node) {
    String host =
        namesOnly == 0 || node < nodes - namesOnly
            ? "n" + (node + 1)
            : node == nodes - 1 ? "localhost" : "nickname";
    return mistakes == null ? host : host + ":6379";
  }

  /** How far a clock may be set, its initial error included. */
  long stepMicros() {
    return isWide() ? 1_900_000 : 900_000; // A quorum must stay within 4 s.
  }

  /** Whether the world does what seeds of NORMAL do rarely or never. */
  boolean isWide() {
    return setting == Setting.WIDE || setting == Setting.SHELL;
  }

  /** The shortest time between two fallback polls, before the jitter. */
  long shortestPollNanos() {
    long shortest = Long.MAX_VALUE;
    for (LockOptions o : variants) {
      long poll = Math.min(o.pollInterval().toNanos(), o.leaseTime().toNanos() / 3);
      shortest = Math.min(shortest, poll);
    }
    return shortest;
  }

  /** The shortest lease time. */
  long shortestLeaseNanos() {
    long shortest = Long.MAX_VALUE;
    for (LockOptions o : variants) {
      shortest = Math.min(shortest, o.leaseTime().toNanos());
    }
    return shortest;
  }

  /** The shortest node timeout. */
  long shortestTimeoutNanos() {
    long shortest = Long.MAX_VALUE;
    for (LockOptions o : variants) {
      shortest = Math.min(shortest, o.nodeTimeout().toNanos());
    }
    return shortest;
  }

  /** Whether all callers of the world want the same names with the same options. */
  boolean isUniform() {
    return keySets.size() == 1 && variants.size() == 1;
  }

  /** Whether the worlds are small, and the clients are the ones that ship. */
  boolean isSmallShell() {
    return setting == Setting.SHELL_NORMAL
        || setting == Setting.SHELL_MAJORITY
        || setting == Setting.SHELL_SETS;
  }

  /** Whether operators change the set of nodes. */
  boolean changesSets() {
    return setting == Setting.SHELL_SETS;
  }

  /** Whether the clients are the ones that ship. */
  boolean isShell() {
    return setting == Setting.SHELL || isSmallShell();
  }

  int quorum() {
    return nodes / 2 + 1;
  }

  /** The longest lease time that a deployment may have. */
  long longestNanos() {
    return longer == null ? maxLeaseNanos : longer.leaseTime().toNanos();
  }

  /** How long a node that may have lost its keys must not vote. */
  long guardNanos() {
    return Math.max(longestNanos(), 5 * SECOND) + 2 * SECOND;
  }

  /** The scenario as text. */
  List<String> describe() {
    List<String> out = new ArrayList<>();
    out.add(
        String.format("setting=%s nodes=%d first=%d", setting, nodes, firstMembers)
            + String.format(" clients=%d users=%d", clients, users));
    out.add("names=" + keySets + " safety=" + ms(safetyNanos) + " guard=" + guard);
    out.add(options + (longer == null ? "" : " or " + longer));
    out.add(
        String.format("maxLease=%s think=%s", ms(maxLeaseNanos), ms(thinkNanos))
            + String.format(" hold=%s wait=%s", ms(holdNanos), ms(waitNanos)));
    out.add(
        String.format("clockPpm=%d skew=%dµs delay=%s", clientPpm, skewMicros, ms(delayNanos))
            + String.format(" jitter=%s", ms(jitterNanos))
            + String.format(" slow=%s×%s", percent(slowMessage), ms(slowNanos)));
    out.add(
        String.format("dropRequest=%s dropReply=%s", percent(dropRequest), percent(dropReply))
            + String.format(" duplicate=%s error=%s", percent(duplicate), percent(error))
            + String.format(" hintLost=%s hintLate=%s", percent(hintLost), percent(hintLate))
            + String.format(" pauseInStep=%s×%s", percent(pauseInStep), ms(pauseNanos))
            + String.format(" timerLate=%s bus=%s", ms(timerLateNanos), bus)
            + String.format(" cancel=%s singleTry=%s", percent(cancel), percent(singleTry))
            + String.format(" extend=%s wallClockWalksBack=%s", percent(userExtend), walksBack)
            + String.format(" freshServers=%s", percent(fresh)));
    StringBuilder faults = new StringBuilder("faults:");
    for (Fault f : Fault.values()) {
      if (every(f) > 0) {
        faults.append(' ').append(f).append("~").append(ms(every(f)));
      }
    }
    out.add(faults.toString());
    return out;
  }

  private static String percent(double p) {
    return Math.round(p * 1000) / 10.0 + "%";
  }

  static String ms(long nanos) {
    return Math.floorDiv(nanos, 1000) / 1000.0 + "ms";
  }
}
