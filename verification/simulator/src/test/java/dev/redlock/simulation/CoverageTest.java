package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What wide worlds do, and how often at least. The floors are half of what occurred when they were
 * written; {@code bin/simulate --setting WIDE --seeds 150 --coverage} prints the present numbers.
 */
class CoverageTest {
  private static final int SEEDS = 150;
  private static final int THREADS = Runtime.getRuntime().availableProcessors();

  private static final String FLOORS =
      """
      ack: already over = 90
      ack: done = 3319
      ack: not confirmed = 17
      crash: ALL = 25
      crash: ALL_BUT_THE_LAST_WRITES = 4
      crash: BY_A_REPLICA = 4
      crash: NOTHING = 4
      effect: Attempted = 8337
      effect: End = 3336
      effect: ExtendFailed = 8
      effect: Extended = 332
      effect: Granted = 3532
      effect: Queued = 4592
      effect: Refuse = 3102
      effect: ReleaseHint = 3336
      effect: Send = 15188
      effect: Settle = 3426
      effect: TurnAway = 28309
      effect: Woken = 4150
      end: CAP_REACHED = 8
      end: EXPIRED = 15
      end: HANDED_OFF = 2559
      end: RELEASED = 753
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
      fault: NODE_ERRS = 28
      fault: NODE_PAUSE = 12
      fault: NODE_STEP = 101
      fault: RESET = 7
      fault: SCRIPT_FLUSH = 4
      fault: STALL = 6
      fault: WALL_STEP = 13
      flush: before the probe was through = 1
      hand-off: by a round = 358
      hand-off: local = 2200
      hand-off: the last token of a grant = 23
      hint: HANDED_OFF = 2559
      hint: LOST = 24
      hint: RELEASED = 753
      illness: DEAD = 16
      illness: ERRING = 8
      illness: HUNG = 17
      node: CONNECTING to PROBING = 13913
      node: PROBING to CONNECTING = 12582
      node: PROBING to QUARANTINED = 160
      node: PROBING to VOTING = 1111
      node: QUARANTINED to CONNECTING = 23
      node: QUARANTINED to VOTING = 122
      node: VOTING to CONNECTING = 103
      node: VOTING to QUARANTINED = 2
      node: errs = 39
      node: errs no longer = 15
      probe: INFO refused = 21
      probe: marker refused = 23
      refusal: CLOSED = 1
      refusal: COLLIDED = 4
      refusal: HELD = 358
      refusal: HELD_LOCALLY = 2306
      refusal: TIMED_OUT = 259
      refusal: TOO_SLOW = 2
      refusal: UNAVAILABLE = 161
      reply: Acquire FAILED BUSY = 13
      reply: Acquire FAILED DISCONNECTED = 81
      reply: Acquire FAILED LOADING = 8
      reply: Acquire FAILED NO_PERMISSION = 7
      reply: Acquire FAILED OUT_OF_MEMORY = 13
      reply: Acquire FAILED READONLY = 13
      reply: Acquire FAILED REPLICAS = 16
      reply: Acquire FAILED TIMEOUT = 98
      reply: Acquire GRANTED = 4160
      reply: Acquire HELD = 4545
      reply: Acquire QUEUED = 53
      reply: Acquire STALE = 125
      reply: Break NOT_OWNER = 5
      reply: Enqueue ADMITTED = 678
      reply: Enqueue FAILED BUSY = 8
      reply: Enqueue FAILED DISCONNECTED = 33
      reply: Enqueue FAILED LOADING = 3
      reply: Enqueue FAILED NO_PERMISSION = 3
      reply: Enqueue FAILED OUT_OF_MEMORY = 3
      reply: Enqueue FAILED READONLY = 8
      reply: Enqueue FAILED REPLICAS = 4
      reply: Enqueue FAILED TIMEOUT = 42
      reply: Enqueue HELD = 4339
      reply: Enqueue QUEUED = 198
      reply: Extend EXTENDED = 2257
      reply: Extend FAILED BUSY = 5
      reply: Extend FAILED DISCONNECTED = 53
      reply: Extend FAILED LOADING = 16
      reply: Extend FAILED OUT_OF_MEMORY = 4
      reply: Extend FAILED READONLY = 11
      reply: Extend FAILED REPLICAS = 4
      reply: Extend FAILED TIMEOUT = 49
      reply: Extend LOST = 88
      reply: Extend REPAIRED = 404
      reply: Inspect FAILED BUSY = 2
      reply: Inspect FAILED DISCONNECTED = 11
      reply: Inspect FAILED LOADING = 3
      reply: Inspect FAILED NO_PERMISSION = 1
      reply: Inspect FAILED OUT_OF_MEMORY = 2
      reply: Inspect FAILED READONLY = 1
      reply: Inspect FAILED REPLICAS = 1
      reply: Inspect FAILED TIMEOUT = 12
      reply: Inspect HELD = 1634
      reply: Inspect NOT_OWNER = 150
      reply: Release FAILED BUSY = 21
      reply: Release FAILED DISCONNECTED = 109
      reply: Release FAILED LOADING = 10
      reply: Release FAILED NO_PERMISSION = 10
      reply: Release FAILED OUT_OF_MEMORY = 11
      reply: Release FAILED READONLY = 18
      reply: Release FAILED REPLICAS = 17
      reply: Release FAILED TIMEOUT = 90
      reply: Release NOT_OWNER = 4971
      reply: Release RELEASED = 2941
      step: by less = 35
      step: by more than 1 s = 28
      step: in quarantine = 1
      woken: EXPIRY = 169
      woken: HINT = 1577
      woken: PAUSE = 384
      woken: POLL = 2019
      """;

  @Test
  void wideWorlds_doEachKindOfThingOftenEnough() throws InterruptedException {
    Simulator.Tally tally = Simulator.runAll(1, SEEDS, Scenario.Setting.WIDE, THREADS, 1);
    Simulator.Result first = tally.first();
    assertThat(first)
        .as(() -> "bin/simulate --setting WIDE --seed " + first.seed() + ": " + first.violation())
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
