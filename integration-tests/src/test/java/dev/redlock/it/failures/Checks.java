package dev.redlock.it.failures;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The checkers. Each reads only a history, and returns the violations as texts with time stamps.
 * {@code CheckersTest} tests each of them with a wrong history.
 */
final class Checks {
  private Checks() {}

  /** C1: no two leases of one name claim validity at the same time. */
  static List<String> overlaps(List<ClaimedHold> holds) {
    List<String> found = new ArrayList<>();
    ClaimedHold.byName(holds)
        .forEach(
            (name, list) -> {
              ClaimedHold longest = null;
              for (ClaimedHold hold : list) {
                if (hold.claimsNothing()) {
                  continue;
                }
                if (longest != null && hold.fromNanos() < longest.toNanos()) {
                  found.add(
                      String.format(
                          Locale.ROOT,
                          "%s: %s of %s [%d, %d] and %s of %s [%d, %d] overlap for %.3f ms",
                          name,
                          longest.lease(),
                          longest.who(),
                          longest.fromNanos(),
                          longest.toNanos(),
                          hold.lease(),
                          hold.who(),
                          hold.fromNanos(),
                          hold.toNanos(),
                          (Math.min(longest.toNanos(), hold.toNanos()) - hold.fromNanos()) / 1e6));
                }
                if (longest == null || hold.toNanos() > longest.toNanos()) {
                  longest = hold;
                }
              }
            });
    return found;
  }

  /**
   * C2: the history is linearizable as a register of owner and token. An acquire takes effect once
   * between its request and its grant, needs a register without an owner, and writes its token,
   * which must be higher than the last. A successful extension needs its own lease as the owner at
   * some instant after it was requested. A release removes the owner, and so does the deadline.
   *
   * <p>No search is needed: the tokens dictate the only possible order of the acquires, and it is
   * best to let each operation take effect as early as it can. So each lease must have been granted
   * after the end of all leases with a lower token. Each name is checked alone, which suffices
   * because linearizability is local (Herlihy and Wing, 1990).
   */
  static List<String> notLinearizable(List<ClaimedHold> holds) {
    List<String> found = new ArrayList<>();
    ClaimedHold.byName(holds)
        .forEach(
            (name, list) -> {
              List<ClaimedHold> byToken = new ArrayList<>(list);
              byToken.sort(Comparator.comparingLong(ClaimedHold::token));
              ClaimedHold last = null;
              for (ClaimedHold hold : byToken) {
                if (last != null && hold.fromNanos() < last.ownedUntilNanos()) {
                  found.add(
                      String.format(
                          Locale.ROOT,
                          "%s: %s with token %d was granted at %d, but %s with token %d owned the"
                              + " lock until %d",
                          name,
                          hold.lease(),
                          hold.token(),
                          hold.fromNanos(),
                          last.lease(),
                          last.token(),
                          last.ownedUntilNanos()));
                }
                if (last == null || hold.ownedUntilNanos() > last.ownedUntilNanos()) {
                  last = hold;
                }
              }
            });
    return found;
  }

  /**
   * C3: tokens of a name are distinct. The token of a lease is lower than that of each lease that
   * was requested after its grant.
   */
  static List<String> tokens(List<ClaimedHold> holds) {
    List<String> found = new ArrayList<>();
    ClaimedHold.byName(holds)
        .forEach(
            (name, byGrant) -> {
              Map<Long, ClaimedHold> seen = new HashMap<>();
              List<ClaimedHold> byAsked = new ArrayList<>(byGrant);
              byAsked.sort(Comparator.comparingLong(ClaimedHold::askedNanos));
              int granted = 0;
              ClaimedHold highest = null;
              for (ClaimedHold hold : byAsked) {
                ClaimedHold same = seen.put(hold.token(), hold);
                if (same != null) {
                  found.add(name + ": " + same.lease() + " and " + hold.lease() + " share a token");
                }
                while (granted < byGrant.size()
                    && byGrant.get(granted).fromNanos() < hold.askedNanos()) {
                  ClaimedHold earlier = byGrant.get(granted++);
                  if (highest == null || earlier.token() > highest.token()) {
                    highest = earlier;
                  }
                }
                if (highest != null && highest.token() >= hold.token()) {
                  found.add(
                      String.format(
                          Locale.ROOT,
                          "%s: %s has token %d, but %s, granted before it was asked for, has %d",
                          name,
                          hold.lease(),
                          hold.token(),
                          highest.lease(),
                          highest.token()));
                }
              }
            });
    return found;
  }

  /**
   * C4: a register that is read, added to and written under the lock. Each acknowledged write must
   * have seen a value of its own; and the last value lies between the acknowledged writes and those
   * plus the writes whose outcome is unknown.
   */
  static List<String> lostUpdates(List<Event> history, String register) {
    List<String> found = new ArrayList<>();
    Map<String, Event> by = new HashMap<>();
    long asked = 0;
    long acknowledged = 0;
    long rejected = 0;
    for (Event event : history) {
      if (!event.fields().getOrDefault("register", "").equals(register)) {
        continue;
      }
      switch (event.what()) {
        case "writing" -> asked++;
        case "rejected" -> rejected++;
        case "wrote" -> {
          acknowledged++;
          Event other = by.putIfAbsent(event.text("old"), event);
          if (other != null) {
            found.add(
                String.format(
                    Locale.ROOT,
                    "%s: the update of %s to value %s is lost under that of %s",
                    register,
                    other.text("lease"),
                    event.text("old"),
                    event.text("lease")));
          }
        }
        case "final" -> {
          long value = event.number("value");
          if (value < acknowledged || value > asked - rejected) {
            found.add(
                String.format(
                    Locale.ROOT,
                    "%s: ends at %d after %d acknowledged of %d writes, %d rejected",
                    register,
                    value,
                    acknowledged,
                    asked,
                    rejected));
          }
        }
        default -> {}
      }
    }
    return found;
  }

  /**
   * One recovery: the time from the end of the faults to the next grant or to the next fault;
   * {@code -1} if no worker was granted the lock any more.
   */
  record Recovery(long recoveredNanos, long nanos) {}

  /**
   * C5: the time from each moment at which all faults had ended and every worker had a quorum
   * again, to the next grant, or to the next fault if no grant came before it.
   *
   * @param quorum where a worker does not say how many votes it needs
   */
  static List<Recovery> recoveries(List<Event> history, String name, int quorum) {
    List<Recovery> all = new ArrayList<>();
    Map<String, Boolean> quorate = new HashMap<>();
    Set<String> ready = new HashSet<>();
    boolean faulty = true;
    long since = -1;
    for (Event event : byTime(history)) {
      switch (event.what()) {
        case "fault" -> {
          if (since >= 0) {
            all.add(new Recovery(since, event.atNanos() - since));
          }
          faulty = true;
          since = -1;
        }
        case "recovered" -> faulty = false;
        case "ready" -> {
          if (!isBeside(event)) {
            ready.add(event.who());
          }
        }
        case "gone" -> {
          ready.remove(event.who());
          quorate.remove(event.who());
        }
        case "voting" -> {
          String needed = event.fields().getOrDefault("quorum", Integer.toString(quorum));
          quorate.put(event.who(), event.number("count") >= Long.parseLong(needed));
        }
        case "acquired" -> {
          if (since >= 0 && event.list("names").contains(name)) {
            all.add(new Recovery(since, event.atNanos() - since));
            since = -1;
            faulty = true; // Measured; the next recovery counts again.
          }
        }
        case "stopping" -> {
          if (since >= 0) {
            all.add(new Recovery(since, -1));
          }
          return all;
        }
        default -> {}
      }
      boolean served =
          !ready.isEmpty()
              && ready.stream().allMatch(worker -> quorate.getOrDefault(worker, false));
      if (!served) {
        since = -1;
      } else if (!faulty && since < 0) {
        since = event.atNanos();
      }
    }
    return all;
  }

  /** Whether it is of a worker of the deployment beside, which has faults of its own. */
  static boolean isBeside(Event event) {
    return event.who().startsWith("q");
  }

  /** C6: lock keys that remained after all leases were released and all faults had ended. */
  static List<String> orphans(List<Event> history) {
    return history.stream().filter(e -> e.is("orphan")).map(Event::toString).toList();
  }

  /**
   * The time at which a holder was notified of the end of a lease that it had not released.
   *
   * @param lateNanos the time after its deadline, without the time in which its process did not
   *     run, or for a moment another one; negative if before the deadline
   */
  record Signal(String lease, String how, long lateNanos) {}

  /**
   * How long before its deadline the end of a lease may be reported; a process may be stopped just
   * then.
   */
  private static final long NOTICE_NANOS = 10_000_000;

  private static final long SHORT_STALL_NANOS = 100_000_000;

  private static final Set<String> NOT_RELEASED = Set.of("EXPIRED", "LOST", "CAP_REACHED");

  /** All notifications of leases that ended without a release. */
  static List<Signal> signals(List<Event> history) {
    Map<String, ClaimedHold> holds = new HashMap<>();
    ClaimedHold.of(history).forEach(hold -> holds.put(hold.lease(), hold));
    // In the order of their beginning: that of a stall is told at its end.
    List<Event> stalls =
        history.stream()
            .filter(e -> e.is("stall"))
            .sorted(Comparator.comparingLong(e -> e.number("from")))
            .toList();
    List<Signal> signals = new ArrayList<>();
    for (Event event : history) {
      ClaimedHold hold = event.is("ended") ? holds.get(event.text("lease")) : null;
      if (hold == null || !NOT_RELEASED.contains(event.text("how"))) {
        continue;
      }
      long late = event.atNanos() - hold.untilNanos();
      long from = hold.untilNanos() - NOTICE_NANOS;
      for (Event stall : stalls) {
        if (stall.who().equals(event.who()) || isOfTheMachine(stall)) {
          from = Math.max(from, stall.number("from"));
          long to = Math.min(stall.atNanos(), event.atNanos());
          late -= Math.max(0, to - from);
          from = Math.max(from, to);
        }
      }
      signals.add(new Signal(hold.lease(), event.text("how"), late));
    }
    return signals;
  }

  /**
   * Another process did not run for a moment: there were too few processors for all threads. A
   * process that is stopped by a nemesis does not run for longer.
   */
  private static boolean isOfTheMachine(Event stall) {
    return stall.atNanos() - stall.number("from") < SHORT_STALL_NANOS;
  }

  /**
   * C7: no lease ended silently, and its holder was notified before its deadline. On a busy machine
   * a single signal may be late, by less than the keys outlive the deadline; most signals must be
   * in time.
   */
  static List<String> lateSignals(List<Event> history, long toleranceNanos) {
    List<String> found = new ArrayList<>();
    List<Long> late = new ArrayList<>();
    for (Signal signal : signals(history)) {
      late.add(signal.lateNanos());
      if (signal.lateNanos() > toleranceNanos) {
        found.add(
            String.format(
                Locale.ROOT,
                "%s: notified of its end as %s %.1f ms after its deadline, without pauses",
                signal.lease(),
                signal.how(),
                signal.lateNanos() / 1e6));
      }
    }
    late.sort(null);
    if (late.size() >= FEW_SIGNALS && late.get(late.size() / 2) > 0) {
      found.add("most ends are reported after the deadline: " + late + " ns");
    }
    Set<String> told = new HashSet<>();
    Set<String> done = new HashSet<>();
    history.stream().filter(e -> e.is("ended")).forEach(e -> told.add(e.text("lease")));
    history.stream().filter(e -> e.is("done")).forEach(e -> done.add(e.who()));
    for (ClaimedHold hold : ClaimedHold.of(history)) {
      if (done.contains(hold.who()) && !told.contains(hold.lease())) {
        found.add(hold.lease() + ": its end was never reported");
      }
    }
    return found;
  }

  /** Fewer signals prove nothing. */
  private static final int FEW_SIGNALS = 4;

  /** C8: keys of the library without a time to live. */
  static List<String> immortal(List<Event> history) {
    return history.stream().filter(e -> e.is("immortal")).map(Event::toString).toList();
  }

  static List<Event> byTime(List<Event> history) {
    List<Event> sorted = new ArrayList<>(history);
    sorted.sort(Comparator.comparingLong(Event::atNanos));
    return sorted;
  }
}
