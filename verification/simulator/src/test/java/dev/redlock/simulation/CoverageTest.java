package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What wide worlds do, and how often at least. The floors are half of what occurred when they were
 * written; {@code bin/simulate --setting WIDE --seeds 300 --coverage} prints the present numbers.
 */
class CoverageTest {
  private static final int SEEDS = 300;

  private static final String FLOORS =
      """
      ack: already over = 262
      ack: done = 6971
      ack: not confirmed = 17
      crash: ALL = 44
      crash: ALL_BUT_THE_LAST_WRITES = 4
      crash: BY_A_REPLICA = 5
      crash: NOTHING = 5
      effect: Attempted = 15503
      effect: End = 6978
      effect: ExtendFailed = 18
      effect: Extended = 699
      effect: Granted = 7364
      effect: Refuse = 50332
      effect: ReleaseHint = 6978
      effect: Send = 28674
      effect: Settle = 7250
      effect: Woken = 7669
      end: CAP_REACHED = 25
      end: EXPIRED = 24
      end: HANDED_OFF = 5445
      end: RELEASED = 1479
      fault: BREAK = 7
      fault: CLIENT_CLOSE = 12
      fault: CLIENT_CRASH = 34
      fault: CLIENT_PAUSE = 16
      fault: CLIENT_SUSPEND = 13
      fault: EVICT = 13
      fault: FALSE_HINT = 10
      fault: FLUSH = 11
      fault: INSPECT = 10
      fault: NODE_CRASH = 22
      fault: NODE_ERRS = 43
      fault: NODE_PAUSE = 17
      fault: NODE_STEP = 265
      fault: RESET = 20
      fault: SCRIPT_FLUSH = 14
      fault: STALL = 9
      fault: WALL_STEP = 10
      flush: before the probe was through = 4
      hand-off: local = 4913
      hand-off: the last token of a grant = 47
      hint: HANDED_OFF = 5445
      hint: LOST = 51
      hint: RELEASED = 1482
      illness: DEAD = 38
      illness: ERRING = 31
      illness: HUNG = 27
      node: CONNECTING to PROBING = 28364
      node: PROBING to CONNECTING = 25686
      node: PROBING to QUARANTINED = 349
      node: PROBING to VOTING = 2243
      node: QUARANTINED to CONNECTING = 26
      node: QUARANTINED to VOTING = 288
      node: VOTING to CONNECTING = 176
      node: VOTING to QUARANTINED = 5
      node: errs = 99
      node: errs no longer = 21
      probe: INFO refused = 49
      probe: marker refused = 46
      refusal: CLOSED = 14
      refusal: COLLIDED = 4
      refusal: HELD = 607
      refusal: HELD_LOCALLY = 3019
      refusal: QUEUE_FULL = 44397
      refusal: TOO_SLOW = 4
      refusal: UNAVAILABLE = 1393
      refusal: UNDECIDED = 893
      reply: Acquire FAILED BUSY = 27
      reply: Acquire FAILED DISCONNECTED = 197
      reply: Acquire FAILED LOADING = 31
      reply: Acquire FAILED NO_PERMISSION = 29
      reply: Acquire FAILED OUT_OF_MEMORY = 39
      reply: Acquire FAILED READONLY = 32
      reply: Acquire FAILED REPLICAS = 21
      reply: Acquire FAILED TIMEOUT = 153
      reply: Acquire GRANTED = 7947
      reply: Acquire HELD = 8659
      reply: Acquire QUEUED = 73
      reply: Acquire STALE = 177
      reply: Break NOT_OWNER = 13
      reply: Enqueue ADMITTED = 1377
      reply: Enqueue FAILED BUSY = 5
      reply: Enqueue FAILED DISCONNECTED = 34
      reply: Enqueue FAILED LOADING = 3
      reply: Enqueue FAILED NO_PERMISSION = 7
      reply: Enqueue FAILED OUT_OF_MEMORY = 12
      reply: Enqueue FAILED READONLY = 13
      reply: Enqueue FAILED REPLICAS = 8
      reply: Enqueue FAILED TIMEOUT = 72
      reply: Enqueue HELD = 7902
      reply: Enqueue QUEUED = 382
      reply: Extend EXTENDED = 2993
      reply: Extend FAILED BUSY = 9
      reply: Extend FAILED DISCONNECTED = 65
      reply: Extend FAILED LOADING = 17
      reply: Extend FAILED OUT_OF_MEMORY = 12
      reply: Extend FAILED READONLY = 19
      reply: Extend FAILED REPLICAS = 7
      reply: Extend FAILED TIMEOUT = 26
      reply: Extend LOST = 17
      reply: Extend REPAIRED = 300
      reply: Inspect FAILED BUSY = 1
      reply: Inspect FAILED DISCONNECTED = 26
      reply: Inspect FAILED LOADING = 2
      reply: Inspect FAILED NO_PERMISSION = 2
      reply: Inspect FAILED OUT_OF_MEMORY = 1
      reply: Inspect FAILED READONLY = 4
      reply: Inspect FAILED REPLICAS = 4
      reply: Inspect FAILED TIMEOUT = 20
      reply: Inspect HELD = 3288
      reply: Inspect NOT_OWNER = 322
      reply: Release FAILED BUSY = 30
      reply: Release FAILED DISCONNECTED = 259
      reply: Release FAILED LOADING = 44
      reply: Release FAILED NO_PERMISSION = 31
      reply: Release FAILED OUT_OF_MEMORY = 45
      reply: Release FAILED READONLY = 36
      reply: Release FAILED REPLICAS = 37
      reply: Release FAILED TIMEOUT = 141
      reply: Release NOT_OWNER = 9587
      reply: Release RELEASED = 5804
      step: by less = 119
      step: by more than 1 s = 93
      step: in quarantine = 2
      woken: EXPIRY = 351
      woken: HINT = 2868
      woken: PAUSE = 956
      woken: POLL = 3493
      """;

  @Test
  void wideWorlds_doEachKindOfThingOftenEnough() throws InterruptedException {
    Simulator.Tally tally = Promises.hold(Scenario.Setting.WIDE, 1, SEEDS);
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
