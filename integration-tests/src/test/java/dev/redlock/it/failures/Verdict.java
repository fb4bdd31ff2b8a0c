package dev.redlock.it.failures;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The results of the checkers for a history. */
record Verdict(String line, List<String> found) {
  static Verdict of(List<Event> history, Duration leaseTime, boolean clientsWerePaused) {
    List<ClaimedHold> holds = ClaimedHold.of(history);
    List<String> overlaps = Checks.overlaps(holds);
    overlaps.addAll(Checks.notLinearizable(holds));
    List<String> tokens = Checks.tokens(holds);
    List<String> lost = Checks.lostUpdates(history, Register.CHECKED);
    List<String> unchecked = Checks.lostUpdates(history, Register.UNCHECKED);
    List<String> orphans = Checks.orphans(history);
    List<Checks.Recovery> recoveries = Checks.recoveries(history, Settings.HOT, Settings.QUORUM);
    List<String> found = new ArrayList<>();
    found.addAll(overlaps);
    found.addAll(tokens);
    found.addAll(lost);
    found.addAll(orphans);
    if (!clientsWerePaused) {
      // A holder that is stopped after its last check writes late; only tokens protect against
      // that.
      found.addAll(unchecked);
    }
    // The keys outlive the deadline by the drift; until then no other worker can be granted it.
    long drift = leaseTime.toNanos() / 100 + 2_000_000;
    found.addAll(Checks.lateSignals(history, drift));
    found.addAll(Checks.immortal(history));
    history.stream().filter(e -> e.is("broken")).forEach(e -> found.add(e.toString()));
    long worst = 0;
    for (Checks.Recovery recovery : recoveries) {
      worst = Math.max(worst, recovery.nanos());
      if (recovery.nanos() < 0 || recovery.nanos() > leaseTime.plusSeconds(1).toNanos()) {
        found.add("no worker was granted the lock for " + recovery + " after the faults ended");
      }
    }
    long acquisitions = count(history, "acquired");
    if (acquisitions == 0 || recoveries.isEmpty()) {
      found.add("nothing happened");
    }
    String line =
        String.format(
            Locale.ROOT,
            "failures: acquisitions=%d faults=%d overlaps=%d token-inversions=%d lost-updates=%d"
                + " orphans=%d max-unavailable=%.0fms late-writes-rejected=%d recoveries=%d"
                + " unchecked-lost-updates=%d",
            acquisitions,
            count(history, "fault"),
            overlaps.size(),
            tokens.size(),
            lost.size(),
            orphans.size(),
            worst / 1e6,
            count(history, "rejected") + count(history, "sealed"),
            recoveries.size(),
            unchecked.size());
    return new Verdict(line, List.copyOf(found));
  }

  boolean passed() {
    return found.isEmpty();
  }

  private static long count(List<Event> history, String what) {
    return history.stream().filter(e -> e.is(what)).count();
  }
}
