package dev.redlock.harness.timeline;

import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.Window;
import java.util.Locale;

/** The texts of the picture: tooltips, tokens and amounts. */
final class Wording {
  private Wording() {}

  static String describe(String name, HoldBins.Bin bin) {
    String tokens =
        bin.lastToken() == 0
            ? ""
            : bin.firstToken() == bin.lastToken()
                ? ", token " + bin.lastToken()
                : ", tokens " + bin.firstToken() + " to " + bin.lastToken();
    return String.format(
        Locale.ROOT,
        "%s, %s: %d %s, %.0f %% of the time%s",
        name,
        span(new Window(bin.fromNanos(), bin.toNanos())),
        bin.holds(),
        bin.holds() == 1 ? "hold" : "holds",
        100 * bin.share(),
        tokens);
  }

  static String describe(String name, Hold hold) {
    return name
        + ", "
        + span(new Window(hold.fromNanos(), hold.toNanos()))
        + ", "
        + Scale.length(hold.toNanos() - hold.fromNanos())
        + (hold.token() == 0 ? "" : ", token " + hold.token())
        + (hold.note().isEmpty() ? "" : ", " + hold.note());
  }

  static String span(Window window) {
    return Scale.time(window.fromNanos()) + " to " + Scale.time(window.toNanos());
  }

  /**
   * Shortens a token. Tokens are clock times in microseconds, so the last digits distinguish them.
   */
  static String shortToken(long token) {
    String digits = Long.toString(token);
    if (token == 0) {
      return "";
    }
    return digits.length() <= 4 ? digits : "…" + digits.substring(digits.length() - 4);
  }

  static double roundUp(double value) {
    double power = Math.pow(10, Math.floor(Math.log10(value)));
    for (double factor : new double[] {1, 2, 3, 4, 5, 6, 8}) {
      if (power * factor >= value) {
        return power * factor;
      }
    }
    return power * 10;
  }

  static String amount(double value) {
    return String.format(Locale.ROOT, value < 10 && value % 1 != 0 ? "%.1f" : "%,.0f", value);
  }
}
