package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Competition;
import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Observed;
import dev.redlock.bench.load.Rounds;
import dev.redlock.bench.load.Section;
import dev.redlock.bench.load.Turns;
import dev.redlock.bench.report.Results.Chart;
import dev.redlock.bench.system.Crowd;
import dev.redlock.bench.system.Peer;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Masters at a distance, in units of the round trip. {@code distance} is at 10 ms; other names
 * contain the milliseconds. In {@code distance-far}, one of five masters is 20 times farther than
 * 10 ms. The metrics: {@code acquire} while the lock is free; {@code hand-over} from the start of a
 * release by one client to the grant of another one that waits; {@code collide-N} until each of N
 * clients that asked at the same time has held the lock once; {@code section} the mean time from
 * grant to grant while two clients with four threads each compete, and {@code wait} how long a
 * thread then waits.
 */
public final class Distance implements Scenario {
  private static final int HEADLINE = 10;
  private static final int CLIENTS = 5;

  private static final Chart ACQUIRE =
      new Chart("distance", "acquire", "round trip in ms", "round trips, p50");
  private static final Chart HAND_OVER =
      new Chart("distance", "hand-over", "round trip in ms", "round trips, p50");

  /** One distance. */
  private record Place(int millis, boolean oneFar) {
    String scenario() {
      return oneFar ? "distance-far" : millis == HEADLINE ? "distance" : "distance-" + millis;
    }

    Duration roundTrip() {
      return Duration.ofMillis(millis);
    }

    /** In this many round trips, requests, replies and invalidations of a step have arrived. */
    Duration pause() {
      return roundTrip().multipliedBy(4).plusMillis(5);
    }
  }

  private static final List<Place> PLACES =
      List.of(
          new Place(1, false),
          new Place(5, false),
          new Place(HEADLINE, false),
          new Place(25, false),
          new Place(HEADLINE, true));

  @Override
  public String name() {
    return "distance";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(
            Peer.REDLOCK,
            Peer.REDLOCK_FAIR,
            Peer.REDLOCK_MAJORITY,
            Peer.FLOOR,
            Peer.REDISSON_REDLOCK,
            Peer.REDISSON_RLOCK,
            Peer.SPRING_LOCKREGISTRY,
            Peer.NODE_REDLOCK);
    if (run.quick()) {
      peers.remove(Peer.SPRING_LOCKREGISTRY);
    }
    try (RedisNodes nodes = RedisNodes.builder().count(5).gated(true).start()) {
      Map<Place, DelayedGates> links = new LinkedHashMap<>();
      for (Place place : PLACES) {
        DelayedGates link = new DelayedGates(nodes, place.roundTrip(), place.oneFar());
        links.put(place, link);
        add(run, place, "ping", "acquire", link.ping());
        link.end();
      }
      for (Peer peer : peers) {
        measure(run, nodes, peer, links);
      }
    }
  }

  private static void measure(Run run, RedisNodes nodes, Peer peer, Map<Place, DelayedGates> links)
      throws Exception {
    // Connections are made without a delay.
    try (Crowd crowd = peer.crowd(nodes.uris(), peer.waits() ? CLIENTS : 1)) {
      warmUp(run, peer, crowd);
      for (Map.Entry<Place, DelayedGates> link : links.entrySet()) {
        if (isMeasured(run, peer, link.getKey())) {
          link.getValue().begin();
          new Visit(run, peer, crowd, link.getKey()).measure();
          link.getValue().end();
        }
      }
    }
  }

  /** In a quick run, other systems and fair mode are measured at some distances only. */
  private static boolean isMeasured(Run run, Peer peer, Place place) {
    return switch (peer) {
      case REDLOCK, REDLOCK_MAJORITY, FLOOR -> true;
      case REDLOCK_FAIR -> !run.quick() || place.scenario().equals("distance");
      default -> !run.quick() || place.millis() == 1 || place.millis() == HEADLINE;
    };
  }

  private static void warmUp(Run run, Peer peer, Crowd crowd) throws Exception {
    Duration time = run.time(400, 3000);
    crowd.compete(Competition.alone(Integer.MAX_VALUE - 10, time), () -> {});
    if (peer.waits()) {
      Rounds rounds = new Rounds(Integer.MAX_VALUE, time, Duration.ofMillis(5));
      crowd.handOver(rounds);
      crowd.collide(CLIENTS, rounds);
    }
    Cpu.awaitIdle();
  }

  private static void add(Run run, Place place, String system, String metric, Histogram nanos) {
    double unit = place.roundTrip().toNanos();
    for (int percentile : new int[] {50, 95}) {
      run.results()
          .add(
              place.scenario(),
              system,
              metric + "-p" + percentile,
              "rt",
              nanos.getValueAtPercentile(percentile) / unit);
    }
  }

  /** The measurements of one system at one distance. */
  private record Visit(Run run, Peer peer, Crowd crowd, Place place) {
    void measure() throws Exception {
      settle();
      double acquire = acquire();
      if (!peer.waits()) {
        say("acquire %.2f round trips".formatted(acquire));
        return;
      }
      double handOver = handOver();
      double two = collide(2);
      double five = collide(CLIENTS);
      threads();
      say(
          "acquire %.2f, hand-over %.2f, collision of two %.1f, of five %.1f round trips"
              .formatted(acquire, handOver, two, five));
    }

    private void say(String figures) {
      run.say("bench: " + place.scenario() + " " + peer.label() + ": " + figures);
    }

    /** Clients that learn how far the masters are have time to do so. */
    private void settle() throws Exception {
      crowd.compete(Competition.alone(10, Duration.ofSeconds(2)), () -> {});
      if (peer.waits()) {
        crowd.handOver(rounds(4, 1000));
        crowd.collide(CLIENTS, rounds(2, 1000));
      }
    }

    private double acquire() throws Exception {
      Observed alone =
          crowd.compete(Competition.alone(run.times(100, 500), run.time(2000, 15_000)), () -> {});
      Histogram times = Turns.of(alone.sections()).waits();
      add(run, place, peer.label(), "acquire", times);
      return point(ACQUIRE, times);
    }

    private double handOver() throws Exception {
      Observed observed =
          crowd.handOver(
              rounds(run.times(isHeadline() ? 100 : 30, 300), isHeadline() ? 9000 : 3000));
      Histogram times = handOvers(observed);
      add(run, place, peer.label(), "hand-over", times);
      return point(HAND_OVER, times);
    }

    private double collide(int clients) throws Exception {
      Observed observed =
          crowd.collide(
              clients, rounds(run.times(isHeadline() ? 40 : 15, 200), isHeadline() ? 4000 : 2000));
      Histogram times = Drive.histogram();
      for (int i = 0; i < observed.sections().size(); i += clients) {
        List<Section> round = observed.sections().subList(i, i + clients);
        long asked = round.stream().mapToLong(Section::askedNanos).min().orElseThrow();
        long last = round.stream().mapToLong(Section::grantedNanos).max().orElseThrow();
        times.recordValue(last - asked);
      }
      add(run, place, peer.label(), "collide-" + clients, times);
      return times.getValueAtPercentile(50) / (double) place.roundTrip().toNanos();
    }

    private void threads() throws Exception {
      Observed observed =
          crowd.compete(
              new Competition(
                  2, 4, 1, Duration.ZERO, Duration.ZERO, 8, 3000, run.time(1500, 15_000)),
              () -> {});
      Turns turns = Turns.of(observed.sections());
      double section = turns.meanInterval() / place.roundTrip().toNanos();
      run.add(place.scenario(), peer, "section", "rt", section);
      add(run, place, peer.label(), "wait", turns.waits());
      run.complain(place.scenario(), peer.label(), turns.overlaps(), observed);
    }

    private boolean isHeadline() {
      boolean unfair = peer == Peer.REDLOCK || peer == Peer.REDLOCK_MAJORITY;
      return unfair && place.millis() == HEADLINE && !place.oneFar();
    }

    private Rounds rounds(int count, int quickMillis) {
      return new Rounds(count, run.time(quickMillis, 30_000), place.pause());
    }

    private double point(Chart chart, Histogram times) {
      double roundTrips = times.getValueAtPercentile(50) / (double) place.roundTrip().toNanos();
      if (!place.oneFar()) {
        run.results().point(chart, peer.label(), place.millis(), roundTrips);
      }
      return roundTrips;
    }
  }

  /** From the start of a release by one client to the grant of the other, in nanoseconds. */
  private static Histogram handOvers(Observed rounds) {
    Histogram times = Drive.histogram();
    for (int i = 0; i + 1 < rounds.sections().size(); i += 2) {
      Section released = rounds.sections().get(i);
      Section granted = rounds.sections().get(i + 1);
      times.recordValue(Math.max(0, granted.grantedNanos() - released.releasingNanos()));
    }
    return times;
  }
}
