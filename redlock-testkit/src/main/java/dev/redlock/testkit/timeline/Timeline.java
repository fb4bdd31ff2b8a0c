package dev.redlock.testkit.timeline;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What happened in a run. All times are nanoseconds since its start, on one clock.
 *
 * @param title what was run
 * @param verdict how it ended, in a line
 * @param passed whether that is good
 * @param lengthNanos how long it took
 * @param facts figures worth reading first
 * @param holdersLabel what the lanes of holders show
 * @param holders who could hold the lock, and when each did
 * @param nodes the nodes, and what each was doing
 * @param faults what was done to them, in order of time
 * @param rate a figure over time; null for none
 * @param closeUp a stretch to be shown magnified; null for none
 * @param notes sentences for the foot of the page
 */
public record Timeline(
    String title,
    String verdict,
    boolean passed,
    long lengthNanos,
    List<Fact> facts,
    String holdersLabel,
    List<HolderLane> holders,
    List<NodeLane> nodes,
    List<Fault> faults,
    @Nullable Rate rate,
    @Nullable Window closeUp,
    List<String> notes) {

  public Timeline {
    requireNonNull(title, "title");
    requireNonNull(verdict, "verdict");
    if (lengthNanos <= 0) {
      throw new IllegalArgumentException("lengthNanos " + lengthNanos + " must be positive");
    }
    facts = List.copyOf(facts);
    requireNonNull(holdersLabel, "holdersLabel");
    holders = List.copyOf(holders);
    nodes = List.copyOf(nodes);
    faults = List.copyOf(faults);
    notes = List.copyOf(notes);
  }

  /** Begins a timeline that shows nothing yet. */
  public static Builder builder(String title, long lengthNanos) {
    return new Builder(title, lengthNanos);
  }

  /**
   * When at least two held at the same time; empty if nobody ever shared. Touching is no overlap.
   */
  public List<Window> overlaps() {
    return Overlaps.of(holders);
  }

  /** A figure worth reading first, such as {@code sold} and {@code 7,412}. */
  public record Fact(String label, String value) {}

  /** A stretch of time. */
  public record Window(long fromNanos, long toNanos) {
    public Window {
      requireOrdered(fromNanos, toNanos);
    }
  }

  /**
   * One who could hold the lock.
   *
   * @param name what to call it
   * @param holds when it did, in any order
   * @param phases when it was not simply running: {@link State#PAUSED}, {@link State#DEAD}
   */
  public record HolderLane(String name, List<Hold> holds, List<Phase> phases) {
    public HolderLane {
      requireNonNull(name, "name");
      holds = List.copyOf(holds);
      phases = List.copyOf(phases);
    }
  }

  /**
   * One hold of the lock.
   *
   * @param fromNanos since when the holder could act
   * @param toNanos until when it could: its release, or the end of its validity
   * @param keptUntilNanos until when the nodes may have kept it for a holder that never released;
   *     otherwise the same as {@code toNanos}
   * @param token its fencing token; 0 if it had none
   * @param note more about it, for the tooltip; may be empty
   */
  public record Hold(long fromNanos, long toNanos, long keptUntilNanos, long token, String note) {
    public Hold {
      requireOrdered(fromNanos, toNanos);
      requireOrdered(toNanos, keptUntilNanos);
      requireNonNull(note, "note");
    }

    /** A hold that was released in time. */
    public static Hold released(long fromNanos, long toNanos, long token) {
      return new Hold(fromNanos, toNanos, toNanos, token, "");
    }
  }

  /** One node. Times that no phase covers are drawn empty: nothing is known of them. */
  public record NodeLane(String name, List<Phase> phases) {
    public NodeLane {
      requireNonNull(name, "name");
      phases = List.copyOf(phases);
    }
  }

  /** What a node, or a holder's process, was doing from one time to another. */
  public record Phase(State state, long fromNanos, long toNanos) {
    public Phase {
      requireNonNull(state, "state");
      requireOrdered(fromNanos, toNanos);
    }
  }

  /** What a node, or a holder's process, can be doing. */
  public enum State {
    /** Its votes count. */
    VOTING("voting"),
    /** It answers, but may have forgotten: its votes do not count yet. */
    QUARANTINED("quarantined"),
    /** Reachable by nobody, though nothing is known to be wrong with it. */
    CONNECTING("connecting"),
    /** Stopped without being dead: connections stay open, nothing answers. */
    PAUSED("paused"),
    /** Killed. */
    DEAD("dead");

    private final String label;

    State(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  /**
   * Something that was done to the system.
   *
   * @param atNanos when
   * @param text what, in a few words
   * @param lane the name of the lane it hit; null if none
   */
  public record Fault(long atNanos, String text, @Nullable String lane) {
    public Fault {
      requireNonNull(text, "text");
    }
  }

  /**
   * A figure over time.
   *
   * @param label its name and unit
   * @param bucketNanos how long each value stands for
   * @param values one per bucket, from the start of the run
   */
  public record Rate(String label, long bucketNanos, List<Double> values) {
    public Rate {
      requireNonNull(label, "label");
      if (bucketNanos <= 0) {
        throw new IllegalArgumentException("bucketNanos " + bucketNanos + " must be positive");
      }
      values = List.copyOf(values);
    }
  }

  private static void requireOrdered(long fromNanos, long toNanos) {
    if (toNanos < fromNanos) {
      throw new IllegalArgumentException("ends at " + toNanos + ", before it begins: " + fromNanos);
    }
  }

  /** Collects a timeline. Every adder returns this builder. Not safe for concurrent use. */
  public static final class Builder {
    private final String title;
    private final long lengthNanos;
    private final List<Fact> facts = new ArrayList<>();
    private final List<HolderLane> holders = new ArrayList<>();
    private final List<NodeLane> nodes = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private String verdict = "";
    private String holdersLabel = "who holds the lock";
    private boolean passed = true;
    private @Nullable Rate rate;
    private @Nullable Window closeUp;

    private Builder(String title, long lengthNanos) {
      this.title = title;
      this.lengthNanos = lengthNanos;
    }

    /** How the run ended. */
    public Builder verdict(boolean passed, String verdict) {
      this.passed = passed;
      this.verdict = verdict;
      return this;
    }

    /** Adds a figure. */
    public Builder fact(String label, String value) {
      facts.add(new Fact(label, value));
      return this;
    }

    /** What the lanes of holders show; usually who holds the lock. */
    public Builder holdersLabel(String holdersLabel) {
      this.holdersLabel = holdersLabel;
      return this;
    }

    /** Adds those who could hold. */
    public Builder holders(List<HolderLane> lanes) {
      holders.addAll(lanes);
      return this;
    }

    /** Adds nodes. */
    public Builder nodes(List<NodeLane> lanes) {
      nodes.addAll(lanes);
      return this;
    }

    /** Adds faults. */
    public Builder faults(List<Fault> more) {
      faults.addAll(more);
      return this;
    }

    /** Sets the figure over time. */
    public Builder rate(Rate rate) {
      this.rate = rate;
      return this;
    }

    /** Sets what is shown magnified. */
    public Builder closeUp(@Nullable Window closeUp) {
      this.closeUp = closeUp;
      return this;
    }

    /** Adds a sentence for the foot of the page. */
    public Builder note(String note) {
      notes.add(note);
      return this;
    }

    /** Makes the timeline. */
    public Timeline build() {
      return new Timeline(
          title,
          verdict,
          passed,
          lengthNanos,
          facts,
          holdersLabel,
          holders,
          nodes,
          faults,
          rate,
          closeUp,
          notes);
    }
  }
}
