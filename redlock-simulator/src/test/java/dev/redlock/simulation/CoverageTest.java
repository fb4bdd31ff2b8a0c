package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What wide worlds do, and how often at least. The floors are half of what occurred when they were
 * written; {@code ./simulate --setting WIDE --seeds 150 --coverage} prints the present numbers.
 */
class CoverageTest {
  private static final int SEEDS = 150;
  private static final int THREADS = Runtime.getRuntime().availableProcessors();

  private static final String FLOORS =
      """
      ack: already over = 89
      ack: done = 3331
      ack: not confirmed = 17
      crash: ALL = 24
      crash: ALL_BUT_THE_LAST_WRITES = 4
      crash: BY_A_REPLICA = 4
      crash: NOTHING = 4
      effect: Attempted = 8336
      effect: End = 3348
      effect: ExtendFailed = 8
      effect: Extended = 334
      effect: Granted = 3543
      effect: Queued = 4598
      effect: Refuse = 3104
      effect: ReleaseHint = 3348
      effect: Send = 15222
      effect: Settle = 3438
      effect: TurnAway = 28309
      effect: Woken = 4147
      end: CAP_REACHED = 8
      end: EXPIRED = 15
      end: HANDED_OFF = 2573
      end: RELEASED = 751
      fault: BREAK = 2
      fault: CLIENT_CLOSE = 9
      fault: CLIENT_CRASH = 13
      fault: CLIENT_PAUSE = 7
      fault: CLIENT_SUSPEND = 8
      fault: EVICT = 12
      fault: FALSE_HINT = 7
      fault: FLUSH = 7
      fault: INSPECT = 8
      fault: NODE_CRASH = 24
      fault: NODE_ERRS = 27
      fault: NODE_PAUSE = 12
      fault: NODE_STEP = 100
      fault: RESET = 7
      fault: SCRIPT_FLUSH = 4
      fault: STALL = 6
      fault: WALL_STEP = 11
      flush: before the probe was through = 1
      hand-off: by a round = 358
      hand-off: local = 2214
      hand-off: the last token of a grant = 24
      hint: HANDED_OFF = 2573
      hint: LOST = 24
      hint: RELEASED = 751
      illness: DEAD = 15
      illness: ERRING = 8
      illness: HUNG = 17
      node: CONNECTING to PROBING = 13794
      node: PROBING to CONNECTING = 12465
      node: PROBING to QUARANTINED = 160
      node: PROBING to VOTING = 1111
      node: QUARANTINED to CONNECTING = 23
      node: QUARANTINED to VOTING = 122
      node: VOTING to CONNECTING = 103
      node: VOTING to QUARANTINED = 2
      node: errs = 38
      node: errs no longer = 14
      probe: INFO refused = 21
      probe: marker refused = 23
      refusal: CLOSED = 11
      refusal: COLLIDED = 4
      refusal: HELD = 358
      refusal: HELD_LOCALLY = 2307
      refusal: TIMED_OUT = 260
      refusal: TOO_SLOW = 2
      refusal: UNAVAILABLE = 161
      reply: Acquire FAILED BUSY = 13
      reply: Acquire FAILED DISCONNECTED = 180
      reply: Acquire FAILED LOADING = 8
      reply: Acquire FAILED NO_PERMISSION = 7
      reply: Acquire FAILED OUT_OF_MEMORY = 15
      reply: Acquire FAILED READONLY = 13
      reply: Acquire FAILED REPLICAS = 15
      reply: Acquire FAILED TIMEOUT = 99
      reply: Acquire GRANTED = 4153
      reply: Acquire HELD = 4549
      reply: Acquire QUEUED = 53
      reply: Acquire STALE = 144
      reply: Break NOT_OWNER = 5
      reply: Enqueue ADMITTED = 679
      reply: Enqueue FAILED BUSY = 8
      reply: Enqueue FAILED DISCONNECTED = 33
      reply: Enqueue FAILED LOADING = 3
      reply: Enqueue FAILED NO_PERMISSION = 3
      reply: Enqueue FAILED OUT_OF_MEMORY = 3
      reply: Enqueue FAILED READONLY = 8
      reply: Enqueue FAILED REPLICAS = 4
      reply: Enqueue FAILED TIMEOUT = 41
      reply: Enqueue HELD = 4338
      reply: Enqueue QUEUED = 198
      reply: Extend EXTENDED = 2292
      reply: Extend FAILED BUSY = 5
      reply: Extend FAILED DISCONNECTED = 52
      reply: Extend FAILED LOADING = 16
      reply: Extend FAILED OUT_OF_MEMORY = 10
      reply: Extend FAILED READONLY = 11
      reply: Extend FAILED REPLICAS = 4
      reply: Extend FAILED TIMEOUT = 49
      reply: Extend LOST = 88
      reply: Extend REPAIRED = 409
      reply: Inspect FAILED BUSY = 2
      reply: Inspect FAILED DISCONNECTED = 11
      reply: Inspect FAILED LOADING = 2
      reply: Inspect FAILED NO_PERMISSION = 1
      reply: Inspect FAILED OUT_OF_MEMORY = 2
      reply: Inspect FAILED READONLY = 1
      reply: Inspect FAILED REPLICAS = 1
      reply: Inspect FAILED TIMEOUT = 11
      reply: Inspect HELD = 1637
      reply: Inspect NOT_OWNER = 149
      reply: Release FAILED BUSY = 20
      reply: Release FAILED DISCONNECTED = 222
      reply: Release FAILED LOADING = 9
      reply: Release FAILED NO_PERMISSION = 10
      reply: Release FAILED OUT_OF_MEMORY = 13
      reply: Release FAILED READONLY = 18
      reply: Release FAILED REPLICAS = 16
      reply: Release FAILED TIMEOUT = 89
      reply: Release NOT_OWNER = 4981
      reply: Release RELEASED = 2944
      step: by less = 36
      step: by more than 1 s = 26
      step: in quarantine = 1
      woken: EXPIRY = 168
      woken: HINT = 1574
      woken: PAUSE = 386
      woken: POLL = 2018
      """;

  @Test
  void wideWorlds_doEachKindOfThingOftenEnough() throws InterruptedException {
    Simulator.Tally tally = Simulator.runAll(1, SEEDS, Scenario.Setting.WIDE, THREADS, 1);
    Simulator.Result first = tally.first();
    assertThat(first)
        .as(() -> "./simulate --setting WIDE --seed " + first.seed() + ": " + first.violation())
        .isNull();
    Map<String, Long> table = tally.coverage.table();
    FLOORS
        .lines()
        .forEach(
            line -> {
              int at = line.lastIndexOf(" = ");
              String row = line.substring(0, at);
              assertThat(table.getOrDefault(row, 0L))
                  .as(row)
                  .isGreaterThanOrEqualTo(Long.parseLong(line.substring(at + 3)));
            });
  }
}
