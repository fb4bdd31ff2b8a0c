package dev.redlock.it.failures;

import dev.redlock.harness.timeline.CloseUp;
import dev.redlock.harness.timeline.Timeline;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.NodeLane;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.State;
import dev.redlock.harness.timeline.TimelineHtml;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Draws a history: the holders of the hot lock, the states of the masters and the faults. */
final class HistoryPicture {
  private static final long BUCKET_NANOS = 1_000_000_000L;

  private final long start;
  private final long end;
  private final List<Event> history;

  private HistoryPicture(List<Event> history) {
    this.history = Checks.byTime(history);
    start = first("begin", this.history.get(0).atNanos());
    end = Math.max(start + 1, this.history.get(this.history.size() - 1).atNanos());
  }

  static String of(List<Event> history, Verdict verdict, String title) {
    return TimelineHtml.render(new HistoryPicture(history).draw(verdict, title));
  }

  private Timeline draw(Verdict verdict, String title) {
    List<HolderLane> holders = holders();
    Timeline.Builder timeline =
        Timeline.builder(title, end - start)
            .verdict(verdict.passed(), verdict.passed() ? "PASS" : "FOUND")
            .holdersLabel("holders of the hot lock")
            .holders(holders)
            .nodes(nodes())
            .faults(faults())
            .rate(new Timeline.Rate("acquisitions/s", BUCKET_NANOS, rate()))
            .closeUp(CloseUp.liveliest(holders, 24));
    for (String figure : verdict.line().split(" ", -1)) {
      String[] parts = figure.split("=", -1);
      if (parts.length == 2) {
        timeline.fact(parts[0].replace('-', ' '), parts[1]);
      }
    }
    verdict.found().stream().limit(30).forEach(timeline::note);
    return timeline
        .note("Times are those of the monotonic clock that all processes of this host share.")
        .build();
  }

  private long first(String what, long otherwise) {
    return history.stream()
        .filter(e -> e.is(what))
        .findFirst()
        .map(Event::atNanos)
        .orElse(otherwise);
  }

  private long at(long nanos) {
    return Math.max(0, Math.min(end, nanos) - start);
  }

  private List<HolderLane> holders() {
    Map<String, List<Timeline.Hold>> lanes = new TreeMap<>();
    for (ClaimedHold hold : ClaimedHold.of(history)) {
      if (hold.names().contains(Settings.HOT) && hold.toNanos() > start) {
        long to = at(hold.toNanos());
        lanes
            .computeIfAbsent(hold.who().replaceAll("\\..*", ""), w -> new ArrayList<>())
            .add(new Timeline.Hold(at(hold.fromNanos()), to, to, hold.token(), hold.lease()));
      }
    }
    List<HolderLane> result = new ArrayList<>();
    lanes.forEach((who, holds) -> result.add(new HolderLane(who, holds, List.of())));
    return result;
  }

  private List<NodeLane> nodes() {
    Map<String, List<Phase>> lanes = new TreeMap<>();
    Map<String, Event> last = new TreeMap<>();
    for (Event event : history) {
      if (event.is("state")) {
        Event before = last.put(event.who(), event);
        if (before != null) {
          add(lanes, before, event.atNanos());
        }
      }
    }
    last.values().forEach(event -> add(lanes, event, end));
    List<NodeLane> result = new ArrayList<>();
    lanes.forEach((name, phases) -> result.add(new NodeLane(name, phases)));
    return result;
  }

  private void add(Map<String, List<Phase>> lanes, Event from, long to) {
    if (at(to) > at(from.atNanos())) {
      lanes
          .computeIfAbsent(from.who(), n -> new ArrayList<>())
          .add(new Phase(state(from.text("is")), at(from.atNanos()), at(to)));
    }
  }

  private static State state(String seen) {
    if (seen.startsWith("DEAD")) {
      return State.DEAD;
    } else if (seen.startsWith("PAUSED")) {
      return State.PAUSED;
    } else if (seen.endsWith("VOTING")) {
      return State.VOTING;
    }
    return seen.endsWith("QUARANTINED") ? State.QUARANTINED : State.CONNECTING;
  }

  private List<Timeline.Fault> faults() {
    List<Timeline.Fault> all = new ArrayList<>();
    for (Event event : history) {
      if (event.is("fault")) {
        String where = event.text("where");
        String text = event.text("code") + " " + where + " " + event.text("text").replace('_', ' ');
        String lane = where.replaceAll("[.+].*", "");
        boolean drawn = lane.matches("[nw]\\d+");
        all.add(new Timeline.Fault(at(event.atNanos()), text, drawn ? lane : null));
      }
    }
    return all;
  }

  private List<Double> rate() {
    double[] buckets = new double[(int) ((end - start) / BUCKET_NANOS) + 1];
    for (Event event : history) {
      if (event.is("acquired") && event.atNanos() >= start) {
        buckets[(int) ((event.atNanos() - start) / BUCKET_NANOS)]++;
      }
    }
    List<Double> values = new ArrayList<>();
    for (double value : buckets) {
      values.add(value);
    }
    return values;
  }
}
