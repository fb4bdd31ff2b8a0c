package dev.redlock.it.failures;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One lease as its holder saw it. Where a stamp cannot be exact, it makes the claim shorter than it
 * was, so every violation that the checkers find did happen.
 *
 * @param lease the harness's name of the lease; lease ids are secret
 * @param who the worker
 * @param names the names of the lease
 * @param token its fencing token
 * @param askedNanos when it was requested
 * @param fromNanos when it was granted
 * @param toNanos until when it claimed validity: its release, or its deadline if it was never
 *     released in time (its holder was killed or paused, say)
 * @param untilNanos its last deadline
 * @param extendedNanos when the last successful extension was requested; {@code fromNanos} if none
 * @param how its end, as the holder reported it
 */
record ClaimedHold(
    String lease,
    String who,
    List<String> names,
    long token,
    long askedNanos,
    long fromNanos,
    long toNanos,
    long untilNanos,
    long extendedNanos,
    String how) {

  /**
   * Whether the lease had expired when its holder first checked it, because the holder was paused
   * after the grant. Such a lease claims no validity. It was granted at some time after the
   * request.
   */
  boolean claimsNothing() {
    return untilNanos <= fromNanos && toNanos <= fromNanos;
  }

  /**
   * Until when the lease was the owner for certain: it claimed validity, or an extension that was
   * requested then succeeded. If it claims nothing, all that is certain is that it was granted
   * after the request.
   */
  long ownedUntilNanos() {
    return claimsNothing() ? askedNanos : Math.max(toNanos, extendedNanos);
  }

  /** All holds of a history, by the time they began. */
  static List<ClaimedHold> of(List<Event> history) {
    Map<String, Growing> all = new LinkedHashMap<>();
    for (Event event : history) {
      if (event.is("acquired")) {
        all.put(event.text("lease"), new Growing(event));
      }
    }
    for (Event event : history) {
      Growing hold = all.get(event.fields().getOrDefault("lease", ""));
      if (hold != null) {
        hold.add(event);
      }
    }
    List<ClaimedHold> holds = new ArrayList<>();
    all.values().forEach(hold -> holds.add(hold.done()));
    holds.sort((a, b) -> Long.compare(a.fromNanos, b.fromNanos));
    return holds;
  }

  /** By name, each list by the time they began. */
  static Map<String, List<ClaimedHold>> byName(List<ClaimedHold> holds) {
    Map<String, List<ClaimedHold>> names = new HashMap<>();
    for (ClaimedHold hold : holds) {
      for (String name : hold.names) {
        names.computeIfAbsent(name, n -> new ArrayList<>()).add(hold);
      }
    }
    return names;
  }

  private static final class Growing {
    private final Event acquired;
    private long until;
    private long seenValid;
    private long extended;
    private long released = Long.MAX_VALUE;
    private long ended = Long.MAX_VALUE;
    private String how = "unknown";

    private Growing(Event acquired) {
      this.acquired = acquired;
      until = acquired.number("until");
      seenValid = acquired.atNanos();
      extended = acquired.atNanos();
    }

    private void add(Event event) {
      switch (event.what()) {
        case "extended" -> {
          until = Math.max(until, event.number("until"));
          extended = Math.max(extended, event.number("asked"));
        }
        case "releasing" -> {
          seenValid = Math.max(seenValid, event.number("seen"));
          if (event.text("valid").equals("true")) {
            released = event.atNanos();
          }
        }
        case "ended" -> {
          how = event.text("how");
          ended = event.atNanos();
        }
        default -> {}
      }
    }

    private ClaimedHold done() {
      // The lease was lost before its deadline, or ended early because the wall clock ran faster
      // than the monotonic clock. Then only the last check of the lease is known.
      boolean cutShort = ended < until;
      long to = Math.min(released, cutShort ? seenValid : Math.max(until, seenValid));
      return new ClaimedHold(
          acquired.text("lease"),
          acquired.who(),
          acquired.list("names"),
          acquired.number("token"),
          acquired.number("asked"),
          acquired.atNanos(),
          Math.max(acquired.atNanos(), to),
          until,
          extended,
          how);
    }
  }
}
