package dev.redlock.examples.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The result of the run, computed only from what was observed.
 *
 * @param word PASS, OVERSOLD or FAIL
 * @param figures the figures of the last line
 * @param complaints the reasons for a bad result; empty if the result is good
 */
record Verdict(String word, List<Figure> figures, List<String> complaints) {

  /** One figure of the last line. Its key may consist of several words. */
  record Figure(String key, String value) {}

  /**
   * What was observed.
   *
   * @param rejected writes that the shop rejected because the lease of their holder had ended
   * @param violations writes that the shop rejected although the lease was valid
   * @param overlaps how often two workers held the lock at the same time, according to their
   *     reports
   * @param longestGap the longest time without a sale
   * @param failures failures of the demo itself or of a fault
   */
  record Seen(
      Plan plan,
      Audit audit,
      List<Long> waitsNanos,
      int rejected,
      int violations,
      int overlaps,
      int refused,
      Duration longestGap,
      List<String> failures) {}

  static Verdict of(Seen seen) {
    List<String> complaints = complaints(seen);
    String word = seen.audit().oversold() > 0 ? "OVERSOLD" : complaints.isEmpty() ? "PASS" : "FAIL";
    List<Figure> figures = new ArrayList<>();
    figures.add(new Figure("sold", Integer.toString(seen.audit().sold())));
    figures.add(new Figure("oversold", Integer.toString(seen.audit().oversold())));
    if (seen.plan().locked()) {
      figures.add(new Figure("waits p50", millis(seen, 0.50)));
      figures.add(new Figure("p99", millis(seen, 0.99)));
      figures.add(new Figure("max", millis(seen, 1)));
      figures.add(new Figure("rejected", Integer.toString(seen.rejected())));
      figures.add(new Figure("overlaps", Integer.toString(seen.overlaps() + seen.violations())));
      figures.add(new Figure("longest-gap", seconds(seen.longestGap())));
    }
    figures.add(new Figure("seed", Long.toString(seen.plan().seed())));
    return new Verdict(word, figures, complaints);
  }

  /** 0 if the result is good, otherwise 1. */
  int exitCode() {
    return word.equals("PASS") ? 0 : 1;
  }

  /** The last line of the demo. */
  String line() {
    return figures.stream()
        .map(figure -> figure.key() + "=" + figure.value())
        .collect(Collectors.joining(" ", "demo: " + word + " ", ""));
  }

  private static List<String> complaints(Seen seen) {
    List<String> complaints = new ArrayList<>(seen.failures());
    Audit audit = seen.audit();
    if (!seen.plan().locked()) {
      if (audit.oversold() == 0) {
        complaints.add(
            "the run without a lock sold no coupon twice, so the control proves nothing");
      }
      return complaints;
    }
    if (!audit.stockFits()) {
      complaints.add("the stock did not fall by one for each sale");
    }
    if (!audit.tokensRise()) {
      complaints.add("the tokens in the shop's book do not rise from sale to sale");
    }
    if (seen.violations() > 0) {
      complaints.add(seen.violations() + " tokens of valid leases were rejected");
    }
    if (seen.overlaps() > 0) {
      complaints.add("two workers held the lock at the same time, " + seen.overlaps() + " times");
    }
    if (seen.rejected() == 0) {
      complaints.add("the late write of the paused worker was not rejected");
    }
    if (seen.longestGap().compareTo(Plan.LONGEST_GAP) > 0) {
      complaints.add(
          "no sale for "
              + seconds(seen.longestGap())
              + ", at most "
              + seconds(Plan.LONGEST_GAP)
              + " is expected");
    }
    long least = Plan.LEAST_SALES_PER_SECOND * seen.plan().length().toSeconds();
    if (audit.sold() < least) {
      complaints.add("only " + audit.sold() + " coupons were sold, expected at least " + least);
    }
    if (seen.refused() > 0) {
      complaints.add(seen.refused() + " sellers did not get the lock in time");
    }
    return complaints;
  }

  /** A percentile of the waits; 0 if no worker waited. */
  private static String millis(Seen seen, double share) {
    List<Long> sorted = seen.waitsNanos().stream().sorted().toList();
    int rank = (int) Math.ceil(share * sorted.size());
    long nanos = sorted.isEmpty() ? 0 : sorted.get(Math.max(0, rank - 1));
    return String.format(Locale.ROOT, "%.1fms", nanos / 1e6);
  }

  static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.1fs", duration.toNanos() / 1e9);
  }
}
