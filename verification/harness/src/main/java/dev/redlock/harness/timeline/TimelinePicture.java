package dev.redlock.harness.timeline;

import dev.redlock.harness.timeline.Timeline.Fault;
import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.NodeLane;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.Rate;
import dev.redlock.harness.timeline.Timeline.State;
import dev.redlock.harness.timeline.Timeline.Window;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws one timeline, from top to bottom: numbers of the faults, rate, holders, nodes, time axis, a
 * few magnified holds, and what the numbers mean. For one use.
 */
final class TimelinePicture {
  private static final double WIDTH = 1240;
  private static final double LEFT = 124;
  private static final double RIGHT = 1216;
  private static final double BIN_WIDTH = 3;

  /** A hold of at least this width is drawn separately; shorter ones are merged into bins. */
  private static final double OWN_WIDTH = 5;

  private static final double RATE_HEIGHT = 104;
  private static final double HOLDER_HEIGHT = 42;
  private static final double NODE_HEIGHT = 18;
  private static final double CLOSE_HEIGHT = 24;
  private static final double CLOSE_ROW_HEIGHT = 11;

  /** Means that a text may use the whole phase. */
  private static final long NOT_A_HOLDER = Long.MIN_VALUE;

  private final Timeline timeline;
  private final Scale scale;
  private final Svg back = new Svg();
  private final Svg front = new Svg();
  private final Map<String, Double> middles = new HashMap<>();
  private double y;

  TimelinePicture(Timeline timeline) {
    this.timeline = timeline;
    scale = new Scale(0, timeline.lengthNanos(), LEFT, RIGHT - LEFT);
  }

  String svg() {
    List<Double> badges = placeBadges();
    double top = y + 6;
    y = top;
    Rate rate = timeline.rate();
    if (rate != null) {
      rate(rate);
    }
    holders();
    nodes();
    double bottom = y;
    timeAxis(top, bottom);
    faults(badges, bottom);
    Window closeUp = timeline.closeUp();
    if (closeUp != null) {
      closeUp(closeUp, bottom);
    }
    faultList();
    String size = Svg.number(WIDTH) + " " + Svg.number(y + 4);
    return "<svg viewBox=\"0 0 "
        + size
        + "\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>"
        + Svg.escape(timeline.title() + ": " + timeline.verdict())
        + "</title>\n<defs><pattern id=\"hatch\" width=\"7\" height=\"7\""
        + " patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
        + "<line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\"/></pattern></defs>\n"
        + back
        + front
        + "</svg>\n";
  }

  /** Assigns rows to the numbered badges above the picture, so that no badge covers another. */
  private List<Double> placeBadges() {
    List<Double> rows = new ArrayList<>();
    List<Double> rowEnds = new ArrayList<>();
    for (Fault fault : timeline.faults()) {
      double x = scale.x(fault.atNanos());
      int row = 0;
      while (row < rowEnds.size() && rowEnds.get(row) > x - 21) {
        row++;
      }
      if (row == rowEnds.size()) {
        rowEnds.add(x);
      } else {
        rowEnds.set(row, x);
      }
      rows.add(14 + 21.0 * row);
    }
    y = rowEnds.isEmpty() ? 6 : 6 + 21.0 * rowEnds.size();
    return rows;
  }

  private void section(String title, String hint) {
    y += 26;
    front.text("section", LEFT, y - 8, title);
    if (!hint.isEmpty()) {
      // Letter widths depend on the fonts of the browser; this leaves enough room for all of them.
      front.text("hint", LEFT + 14 + 7.2 * title.length(), y - 8, hint);
    }
  }

  private void rate(Rate rate) {
    section(rate.label(), "");
    double base = y + RATE_HEIGHT;
    double most = rate.values().stream().mapToDouble(v -> v).max().orElse(0);
    double full = Wording.roundUp(Math.max(1, most));
    for (int i = 0; i <= 2; i++) {
      double at = base - RATE_HEIGHT * i / 2;
      back.line("grid", LEFT, at, RIGHT, at);
      front.text("scale", LEFT - 10, at + 4, Wording.amount(full * i / 2));
    }
    StringBuilder curve = new StringBuilder();
    for (int i = 0; i < rate.values().size(); i++) {
      long fromNanos = i * rate.bucketNanos();
      long toNanos = Math.min(fromNanos + rate.bucketNanos(), timeline.lengthNanos());
      if (toNanos <= fromNanos) {
        break;
      }
      double value = rate.values().get(i);
      double x = (scale.x(fromNanos) + scale.x(toNanos)) / 2;
      curve.append(curve.isEmpty() ? "M" : "L").append(Svg.number(x)).append(' ');
      curve.append(Svg.number(base - RATE_HEIGHT * value / full));
      front.rect(
          "hit",
          scale.x(fromNanos),
          base - RATE_HEIGHT,
          scale.x(toNanos) - scale.x(fromNanos),
          RATE_HEIGHT,
          Scale.length(fromNanos) + ": " + Wording.amount(value) + " " + rate.label());
    }
    if (!curve.isEmpty()) {
      double end = scale.x(Math.min(rate.values().size() * rate.bucketNanos(), scale.toNanos()));
      String area = "L" + Svg.number(end) + " " + Svg.number(base) + "L" + Svg.number(LEFT) + " ";
      back.path("rate-area", curve + area + Svg.number(base) + "Z");
      back.path("rate-line", curve.toString());
    }
    y = base;
  }

  private void holders() {
    if (timeline.holders().isEmpty()) {
      return;
    }
    section(
        timeline.holdersLabel(),
        tokens()
            ? "height: held share of the time; hatched: dead or paused, coloured until its lease ends"
            : "height: share of the time");
    List<Window> overlaps = timeline.overlaps();
    if (!overlaps.isEmpty()) {
      front.text("name", LEFT - 12, y + 9, "two at once");
      back.rect("lane", LEFT, y, RIGHT - LEFT, 12, "");
      for (Window window : merge(overlaps)) {
        double x = scale.x(window.fromNanos());
        double width = Math.max(1, scale.x(window.toNanos()) - x);
        front.rect("overlap", x, y, width, 12, "held by at least two at " + Wording.span(window));
      }
      y += 18;
    }
    for (int i = 0; i < timeline.holders().size(); i++) {
      holder(timeline.holders().get(i), "h" + i % TimelineStyle.HOLDER_COLOURS);
      y += HOLDER_HEIGHT + 6;
    }
    y -= 6;
  }

  /** Without a lock there are no tokens to explain. */
  private boolean tokens() {
    return timeline.holders().stream()
        .flatMap(lane -> lane.holds().stream())
        .anyMatch(hold -> hold.token() != 0);
  }

  private void holder(HolderLane lane, String colour) {
    middles.put(lane.name(), y + HOLDER_HEIGHT / 2);
    front.text("name", LEFT - 12, y + HOLDER_HEIGHT / 2 + 4, lane.name());
    back.rect("lane", LEFT, y, RIGHT - LEFT, HOLDER_HEIGHT, "");
    for (Phase phase : lane.phases()) {
      if (phase.state() != State.VOTING) {
        phase(phase, lane.name(), y, HOLDER_HEIGHT, freeFrom(phase, lane.holds()));
      }
    }
    double nanosPerPixel = timeline.lengthNanos() / (RIGHT - LEFT);
    List<Hold> merged = new ArrayList<>();
    List<Hold> own = new ArrayList<>();
    for (Hold hold : lane.holds()) {
      boolean wide = hold.keptUntilNanos() - hold.fromNanos() >= OWN_WIDTH * nanosPerPixel;
      (wide ? own : merged).add(hold);
    }
    long binNanos = Math.max(1, (long) (BIN_WIDTH * nanosPerPixel));
    for (HoldBins.Bin bin : HoldBins.of(merged, binNanos, timeline.lengthNanos())) {
      double height = Math.max(1.5, bin.share() * (HOLDER_HEIGHT - 2));
      double x = scale.x(bin.fromNanos());
      double width = scale.x(bin.toNanos()) - x;
      double barTop = y + HOLDER_HEIGHT - height;
      front.rect(colour + " bin", x, barTop, width, height, Wording.describe(lane.name(), bin));
    }
    for (Hold hold : own) {
      hold(hold, lane.name(), colour, scale, y, HOLDER_HEIGHT);
    }
  }

  private void hold(Hold hold, String name, String colour, Scale on, double top, double height) {
    double x = on.x(hold.fromNanos());
    double width = Math.max(1, on.x(hold.toNanos()) - x);
    front.rect(colour + " hold", x, top, width, height, Wording.describe(name, hold));
    double keptWidth = on.x(hold.keptUntilNanos()) - x - width;
    if (keptWidth > 0) {
      String title = name + " never released it; the nodes kept it until the lease time expired";
      front.rect(colour + " kept", x + width, top, keptWidth, height, title);
      front.path("hatched", box(x + width, top, keptWidth, height));
    }
    String token = Wording.shortToken(hold.token());
    if (!token.isEmpty() && width > 8.4 * token.length()) {
      front.text("inside", x + width / 2, top + height / 2 + 4, token);
    }
  }

  private void nodes() {
    if (timeline.nodes().isEmpty()) {
      return;
    }
    section("states of the nodes", "");
    nodeLegend(y - 8);
    for (NodeLane lane : timeline.nodes()) {
      middles.put(lane.name(), y + NODE_HEIGHT / 2);
      front.text("name", LEFT - 12, y + NODE_HEIGHT / 2 + 4, lane.name());
      back.rect("lane", LEFT, y, RIGHT - LEFT, NODE_HEIGHT, "");
      for (Phase phase : lane.phases()) {
        phase(phase, lane.name(), y, NODE_HEIGHT, NOT_A_HOLDER);
      }
      y += NODE_HEIGHT + 5;
    }
  }

  /**
   * The time from which a holder's phase has room for a text: after the holds that extend into it.
   */
  private static long freeFrom(Phase phase, List<Hold> holds) {
    return holds.stream()
        .mapToLong(Hold::keptUntilNanos)
        .filter(until -> until > phase.fromNanos() && until < phase.toNanos())
        .max()
        .orElse(phase.fromNanos());
  }

  private void phase(Phase phase, String name, double top, double height, long freeFrom) {
    boolean ofNode = freeFrom == NOT_A_HOLDER;
    double x = scale.x(phase.fromNanos());
    double width = scale.x(phase.toNanos()) - x;
    String label = phase.state().label();
    String length = Scale.length(phase.toNanos() - phase.fromNanos());
    String style = phase.state().name().toLowerCase(Locale.ROOT) + (ofNode ? "" : " away");
    String title =
        name + " " + label + " for " + length + ", from " + Scale.length(phase.fromNanos());
    front.rect(style, x, top, Math.max(1, width), height, title);
    if (phase.state() == State.VOTING) {
      return;
    }
    front.path("hatched", box(x, top, width, height));
    double freeX = ofNode ? x : scale.x(freeFrom);
    double room = x + width - freeX;
    String words =
        room > 6.8 * (label.length() + 1 + length.length()) ? label + " " + length : label;
    if (room > 6.8 * words.length()) {
      String ink = ofNode ? "inside" : "beside";
      front.text(ink, freeX + room / 2, top + height / 2 + 4, words);
    }
  }

  private void timeAxis(double top, double bottom) {
    for (long at : scale.ticks()) {
      back.line("grid", scale.x(at), top, scale.x(at), bottom + 3);
      front.text("tick", scale.x(at), bottom + 16, scale.label(at));
    }
    y = bottom + 22;
  }

  private void faults(List<Double> badges, double bottom) {
    for (int i = 0; i < timeline.faults().size(); i++) {
      Fault fault = timeline.faults().get(i);
      double x = scale.x(fault.atNanos());
      String title = title(fault);
      front.line("fault", x, badges.get(i) + 9, x, bottom);
      badge(x, badges.get(i), i, title);
      Double middle = fault.lane() == null ? null : middles.get(fault.lane());
      if (middle != null) {
        front.circle("where", x, middle, 4.5, title);
      }
    }
  }

  private static String title(Fault fault) {
    return Scale.length(fault.atNanos()) + ": " + fault.text();
  }

  private void badge(double x, double middle, int index, String title) {
    front.circle("badge", x, middle, 9.5, title);
    front.text("badge-text", x, middle + 4, Integer.toString(index + 1));
  }

  /** Where a page shows the picture as an image, there are no tooltips. */
  private void faultList() {
    if (!timeline.faults().isEmpty()) {
      section("faults", "");
    }
    for (int i = 0; i < timeline.faults().size(); i++) {
      badge(LEFT + 10, y + 6, i, "");
      front.text("fault-text", LEFT + 28, y + 10, title(timeline.faults().get(i)));
      y += 22;
    }
  }

  /** Draws the legend of the states that occur, to the right of the nodes' heading. */
  private void nodeLegend(double at) {
    double x = LEFT + 170;
    for (State state : State.values()) {
      boolean used =
          timeline.nodes().stream()
              .flatMap(lane -> lane.phases().stream())
              .anyMatch(phase -> phase.state() == state);
      if (used) {
        front.rect(state.name().toLowerCase(Locale.ROOT), x, at - 9, 14, 10, "");
        if (state != State.VOTING) {
          front.path("hatched", box(x, at - 9, 14, 10));
        }
        front.text("hint", x + 20, at, state.label());
        x += 20 + 6.8 * state.label().length() + 18;
      }
    }
  }

  private void closeUp(Window window, double bottom) {
    Scale near = new Scale(window.fromNanos(), window.toNanos(), LEFT, RIGHT - LEFT);
    section(
        "close-up of " + Scale.length(window.toNanos() - window.fromNanos()),
        tokens() ? "single holds, with the last digits of their tokens" : "one bar for each");
    double top = y;
    double from = scale.x(window.fromNanos());
    double to = Math.max(from + 1, scale.x(window.toNanos()));
    back.path(
        "funnel",
        "M"
            + Svg.number(from)
            + " "
            + Svg.number(bottom)
            + "L"
            + Svg.number(to)
            + " "
            + Svg.number(bottom)
            + "L"
            + Svg.number(RIGHT)
            + " "
            + Svg.number(top)
            + "L"
            + Svg.number(LEFT)
            + " "
            + Svg.number(top)
            + "Z");
    for (int i = 0; i < timeline.holders().size(); i++) {
      closeLane(timeline.holders().get(i), "h" + i % TimelineStyle.HOLDER_COLOURS, near);
    }
    for (long at : near.ticks()) {
      back.line("grid", near.x(at), top, near.x(at), y);
      front.text("tick", near.x(at), y + 13, near.label(at));
    }
    y += 20;
  }

  /**
   * Draws one magnified lane. Overlapping holds, which should not occur, are drawn below one
   * another.
   */
  private void closeLane(HolderLane lane, String colour, Scale near) {
    List<Hold> holds =
        lane.holds().stream()
            .filter(hold -> hold.toNanos() >= near.fromNanos())
            .filter(hold -> hold.fromNanos() <= near.toNanos())
            .sorted(Comparator.comparingLong(Hold::fromNanos))
            .toList();
    List<Long> rowEnds = new ArrayList<>();
    List<Integer> rows = new ArrayList<>();
    for (Hold hold : holds) {
      int row = 0;
      while (row < rowEnds.size() && rowEnds.get(row) > hold.fromNanos()) {
        row++;
      }
      if (row == rowEnds.size()) {
        rowEnds.add(hold.toNanos());
      } else {
        rowEnds.set(row, hold.toNanos());
      }
      rows.add(row);
    }
    double rowHeight = rowEnds.size() <= 1 ? CLOSE_HEIGHT : CLOSE_ROW_HEIGHT;
    double height = rowHeight * Math.max(1, rowEnds.size());
    front.text("name", LEFT - 12, y + height / 2 + 4, lane.name());
    back.rect("lane", LEFT, y, RIGHT - LEFT, height, "");
    for (int i = 0; i < holds.size(); i++) {
      double top = y + rowHeight * rows.get(i);
      hold(holds.get(i), lane.name(), colour, near, top, rowHeight);
    }
    y += height + 4;
  }

  /**
   * Merges windows that are closer than one pixel, because a run without a lock would produce too
   * many tooltips.
   */
  private List<Window> merge(List<Window> windows) {
    long gapNanos = (long) (timeline.lengthNanos() / (RIGHT - LEFT));
    List<Window> merged = new ArrayList<>();
    for (Window window : windows) {
      Window last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last != null && window.fromNanos() - last.toNanos() <= gapNanos) {
        merged.set(merged.size() - 1, new Window(last.fromNanos(), window.toNanos()));
      } else {
        merged.add(window);
      }
    }
    return merged;
  }

  private static String box(double x, double top, double width, double height) {
    return "M"
        + Svg.number(x)
        + " "
        + Svg.number(top)
        + "h"
        + Svg.number(width)
        + "v"
        + Svg.number(height)
        + "h-"
        + Svg.number(width)
        + "Z";
  }
}
