package dev.redlock.bench.load;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sections of an experiment, in no order, and the acquires that failed.
 *
 * @param firstFailure null if none failed
 */
public record Observed(List<Section> sections, long failures, @Nullable String firstFailure) {

  /** Copies the list. */
  public Observed {
    sections = List.copyOf(sections);
  }
}
