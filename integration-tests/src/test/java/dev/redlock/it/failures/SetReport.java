package dev.redlock.it.failures;

import java.util.List;
import java.util.Locale;

/**
 * What the changes of a run came to.
 *
 * @param changes how many changes of one member were completed; a replacement is two of them
 * @param calls how many calls of operators succeeded
 * @param refused how many calls of operators failed
 * @param killed how many operators were killed in the middle
 * @param forgot how often a master restarted empty, without those that were being removed
 * @param longestGapNanos the longest time in which no worker was granted any lock
 * @param stuck changes that came to no end
 */
record SetReport(
    long changes,
    long calls,
    long refused,
    long killed,
    long forgot,
    long longestGapNanos,
    List<Event> stuck) {

  static SetReport of(List<Event> history) {
    long epoch =
        history.stream()
            .filter(e -> e.is("epoch"))
            .mapToLong(e -> e.number("number"))
            .max()
            .orElse(1);
    boolean complete = history.stream().anyMatch(e -> e.is("complete"));
    return new SetReport(
        Math.max(0, epoch - (complete ? 1 : 2)),
        count(history, "changed"),
        count(history, "unchanged"),
        count(history, "operator-killed"),
        count(history, "forgot"),
        longestGap(history),
        history.stream().filter(e -> e.is("stuck")).toList());
  }

  private static long count(List<Event> history, String what) {
    return history.stream().filter(e -> e.is(what)).count();
  }

  /** From the begin of the run to the end of the work. */
  private static long longestGap(List<Event> history) {
    long longest = 0;
    long last = -1;
    for (Event event : Checks.byTime(history)) {
      if (event.is("begin")) {
        last = event.atNanos();
      } else if (last >= 0
          && !Checks.isBeside(event)
          && (event.is("acquired") || event.is("stopping"))) {
        longest = Math.max(longest, event.atNanos() - last);
        last = event.atNanos();
        if (event.is("stopping")) {
          break;
        }
      }
    }
    return longest;
  }

  String line() {
    return String.format(
        Locale.ROOT,
        "failures: changes=%d calls=%d refused=%d operators-killed=%d restarted-empty=%d"
            + " longest-gap=%.0fms stuck=%d",
        changes,
        calls,
        refused,
        killed,
        forgot,
        longestGapNanos / 1e6,
        stuck.size());
  }
}
