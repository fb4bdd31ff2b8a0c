package dev.redlock.harness.timeline;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The events of a run. All times are nanoseconds since its start, on one clock.
 *
 * @param title the name of the run
 * @param verdict the result, in one line
 * @param passed whether the result is good
 * @param lengthNanos the duration of the run
 * @param facts the most important figures
 * @param holdersLabel the heading of the lanes of holders
 * @param holders the holders, and when each held the lock
 * @param nodes the nodes and their states
 * @param faults the injected faults, in order of time
 * @param rate a figure over time; null for none
 * @param closeUp the stretch that is shown magnified; null for none
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

  /** Returns a builder for an empty timeline. */
  public static Builder builder(String title, long lengthNanos) {
    return new Builder(title, lengthNanos);
  }

  /**
   * Returns when at least two holders held the lock at the same time; empty if that never happened.
   * Holds that only touch do not overlap.
   */
  public List<Window> overlaps() {
    return Overlaps.of(holders);
  }

  /** An important figure, such as {@code sold} and {@code 7,412}. */
  public record Fact(String label, String value) {}

  /** A stretch of time. */
  public record Window(long fromNanos, long toNanos) {
    public Window {
      requireOrdered(fromNanos, toNanos);
    }
  }

  /**
   * One holder of the lock.
   *
   * @param name its name
   * @param holds its holds, in any order
   * @param phases when it was not running normally: {@link State#PAUSED}, {@link State#DEAD}
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
   * @param fromNanos the time from which the holder could act
   * @param toNanos the time until which it could act: its release, or the end of its validity
   * @param keptUntilNanos until when the nodes may have kept the lease of a holder that never
   *     released it; otherwise the same as {@code toNanos}
   * @param token its fencing token; 0 if there is none
   * @param note additional text for the tooltip; may be empty
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

  /** One node. Times without a phase are drawn empty: the state is unknown. */
  public record NodeLane(String name, List<Phase> phases) {
    public NodeLane {
      requireNonNull(name, "name");
      phases = List.copyOf(phases);
    }
  }

  /** The state of a node, or of a holder's process, during a stretch of time. */
  public record Phase(State state, long fromNanos, long toNanos) {
    public Phase {
      requireNonNull(state, "state");
      requireOrdered(fromNanos, toNanos);
    }
  }

  /** The states of a node or of a holder's process. */
  public enum State {
    /** Its votes count. */
    VOTING("voting"),
    /** It replies, but it may have forgotten leases: its votes do not count yet. */
    QUARANTINED("quarantined"),
    /** No client can reach it, and no fault of it is known. */
    CONNECTING("connecting"),
    /** Stopped, but not dead: connections stay open without replies. */
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
   * A fault that the test injected.
   *
   * @param atNanos its time
   * @param text its description, in a few words
   * @param lane the name of the affected lane; null if none
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
   * @param bucketNanos the duration that each value covers
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

  /** Builds a timeline. Every method returns this builder. Not safe for use by several threads. */
  public static final class Builder {
    private final String title;
    private final long lengthNanos;
    private final List<Fact> facts = new ArrayList<>();
    private final List<HolderLane> holders = new ArrayList<>();
    private final List<NodeLane> nodes = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private String verdict = "";
    private String holdersLabel = "holders of the lock";
    private boolean passed = true;
    private @Nullable Rate rate;
    private @Nullable Window closeUp;

    private Builder(String title, long lengthNanos) {
      this.title = title;
      this.lengthNanos = lengthNanos;
    }

    /** Sets the result of the run. */
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

    /** Sets the heading of the lanes of holders. Default: "holders of the lock". */
    public Builder holdersLabel(String holdersLabel) {
      this.holdersLabel = holdersLabel;
      return this;
    }

    /** Adds holders. */
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

    /** Sets the stretch that is shown magnified. */
    public Builder closeUp(@Nullable Window closeUp) {
      this.closeUp = closeUp;
      return this;
    }

    /** Adds a sentence for the foot of the page. */
    public Builder note(String note) {
      notes.add(note);
      return this;
    }

    /** Returns the timeline. */
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
