package dev.redlock.simulation;

import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.Terms;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What kind of world a seed makes: sizes, options of the locks, clocks, and which faults come. */
final class Scenario {
  static final long MS = 1_000_000L;
  static final long SECOND = 1_000_000_000L;

  /** What the world may do beyond what the protocol promises to bear. */
  enum Setting {
    /** Everything that it promises to bear. */
    NORMAL,
    /** Nodes forget and vote at once: no restart guard. */
    GUARD_OFF,
    /** Clocks run apart by more than the drift allowance. */
    FAST_CLOCKS,
    /** More keys are lost than a quorum can bear. */
    FORGETFUL,
    /** Votes may be as old as they like: for mutants that need it. */
    LONG_ROUNDS
  }

  private static final LockKeys A = LockKeys.of("redlock", List.of("a"));
  private static final LockKeys B = LockKeys.of("redlock", List.of("b"));
  private static final LockKeys AB = LockKeys.of("redlock", List.of("a", "b"));
  private static final List<LockKeys> ONE = List.of(A);
  private static final List<LockKeys> SEVERAL = List.of(A, B, AB);

  final Setting setting;
  final RestartGuard guard;
  final int nodes;
  final int clients;
  final int users;
  final List<LockKeys> keySets;
  final LockOptions options;

  /** How many rounds a client may have under way to begin with, and at least. */
  int roundsAtOnce = 256;

  final Terms terms;
  final long ttlNanos;
  final long maxLeaseNanos;
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
  final double once;
  final double userExtend;

  /** Mean time between faults of each kind, 0 if it does not come. */
  private final Map<Fault, Long> faultEvery = new EnumMap<>(Fault.class);

  final boolean walksBack;

  /** How likely a server is that was started a moment ago, and may not vote yet. */
  final double fresh;

  /** What can go wrong at once, apart from single messages. */
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
    FLUSH,
    EVICT,
    FALSE_HINT,
    BREAK,
    INSPECT
  }

  Scenario(Setting setting, Rng rng) {
    this.setting = setting;
    nodes = (int) rng.oneOf(3, 3, 3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 1, 2, 4, 7);
    clients = (int) rng.between(2, 4);
    users = (int) rng.oneOf(1, 1, 2, 3);
    keySets = rng.chance(0.75) ? ONE : SEVERAL;
    long ttl = rng.spread(150, 5_000);
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
            .maxHandOffs((int) rng.oneOf(0, 1, 3, 16))
            .fair(rng.chance(0.2))
            .lineTimeout(Duration.ofMillis(rng.between(100, 5000)))
            .pollInterval(Duration.ofMillis(rng.between(Math.max(10, ttl / 30), 1000)))
            .build();
    terms = Terms.of(options);
    ttlNanos = ttl * MS;
    maxLeaseNanos = rng.chance(0.5) ? ttlNanos : Math.max(ttlNanos, 5 * SECOND);
    safetyEvents = (int) rng.between(100, 500);
    safetyNanos = rng.between(4, 25) * SECOND;
    thinkNanos = rng.spread(MS, Math.max(2 * MS, safetyNanos / 8));
    holdNanos = rng.spread(MS, 2 * ttlNanos);
    waitNanos = rng.spread(10 * MS, 10 * SECOND);

    boolean clocks = rng.chance(0.5);
    int fast = setting == Setting.FAST_CLOCKS ? 150_000 : 4_000;
    clientPpm = clocks || fast > 4_000 ? fast : 0;
    nodePpm = clocks ? 4_000 : 0;
    skewMicros = rng.oneOf(0, 1_000, 900_000);

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
    pauseInStep = rng.chance(0.25) ? rng.next() * 0.02 : 0;
    pauseNanos = rng.spread(MS, 3 * ttlNanos);
    timerLateNanos = rng.chance(0.3) ? Math.min(5 * MS, ttlNanos / 200) : 0;
    bus = rng.chance(0.2);
    cancel = rng.chance(0.3) ? rng.next() * 0.3 : 0;
    once = rng.chance(0.3) ? rng.next() * 0.5 : 0;
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
    if (walksBack) {
      // A wall clock that is set back hides a suspension: one or the other.
      faultEvery.remove(Fault.CLIENT_SUSPEND);
    }
    roundsAtOnce = rng.chance(0.5) ? 1 : 256;
  }

  /** Mean time between faults of this kind; 0 if there are none. */
  long every(Fault f) {
    return faultEvery.getOrDefault(f, 0L);
  }

  /** A world in which nothing goes wrong by itself, for histories that are written by hand. */
  Scenario(int nodes, int clients, LockOptions options) {
    this(nodes, clients, options, MS / 2, 0);
  }

  /** The same with links of another length. */
  Scenario(int nodes, int clients, LockOptions options, long delayNanos, long jitterNanos) {
    setting = Setting.NORMAL;
    this.nodes = nodes;
    this.clients = clients;
    this.options = options;
    keySets = ONE;
    terms = Terms.of(options);
    ttlNanos = terms.ttlMillis() * MS;
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
    once = 0;
    userExtend = 0;
    walksBack = false;
    fresh = 0;
    guard = RestartGuard.UPTIME;
  }

  int quorum() {
    return nodes / 2 + 1;
  }

  /** How long a node that may have forgotten is kept from voting. */
  long guardNanos() {
    return Math.max(maxLeaseNanos, 5 * SECOND) + 2 * SECOND;
  }

  /** The scenario for people: what is not at its usual value. */
  List<String> describe() {
    List<String> out = new ArrayList<>();
    out.add("setting=" + setting + " nodes=" + nodes + " clients=" + clients + " users=" + users);
    out.add("names=" + keySets + " safety=" + ms(safetyNanos) + " guard=" + guard);
    out.add(options.toString());
    out.add(
        "maxLease="
            + ms(maxLeaseNanos)
            + " think="
            + ms(thinkNanos)
            + " hold="
            + ms(holdNanos)
            + " wait="
            + ms(waitNanos));
    out.add(
        "clockPpm="
            + clientPpm
            + " skew="
            + skewMicros
            + "µs delay="
            + ms(delayNanos)
            + " jitter="
            + ms(jitterNanos)
            + " slow="
            + percent(slowMessage)
            + "×"
            + ms(slowNanos));
    out.add(
        "dropRequest="
            + percent(dropRequest)
            + " dropReply="
            + percent(dropReply)
            + " duplicate="
            + percent(duplicate)
            + " error="
            + percent(error)
            + " hintLost="
            + percent(hintLost)
            + " hintLate="
            + percent(hintLate)
            + " pauseInStep="
            + percent(pauseInStep)
            + "×"
            + ms(pauseNanos)
            + " timerLate="
            + ms(timerLateNanos)
            + " bus="
            + bus
            + " cancel="
            + percent(cancel)
            + " once="
            + percent(once)
            + " extend="
            + percent(userExtend)
            + " wallClockWalksBack="
            + walksBack
            + " freshServers="
            + percent(fresh));
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
