package dev.redlock.micrometer;

import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Maps the names of locks to values of one tag, and bounds the number of these values: each value
 * costs a time series per meter, and names may come from users.
 */
final class LockTags {
  static final String TAG = "lock";
  static final String OTHER = "other";

  private final @Nullable Function<? super List<String>, String> mapping;
  private final int limit;
  private final Set<String> values = ConcurrentHashMap.newKeySet();

  LockTags(@Nullable Function<? super List<String>, String> mapping, int limit) {
    this.mapping = mapping;
    this.limit = limit;
  }

  boolean areUsed() {
    return mapping != null;
  }

  /** The value for these names; empty if the tag is not used. */
  String value(List<String> names) {
    if (mapping == null) {
      return "";
    }
    String value;
    try {
      value = mapping.apply(names);
    } catch (Throwable e) { // An error of the application must not cost a count either.
      return OTHER;
    }
    if (value == null || value.isEmpty()) {
      return OTHER;
    }
    return values.contains(value) || admit(value) ? value : OTHER;
  }

  private synchronized boolean admit(String value) {
    return values.size() < limit && values.add(value);
  }

  static Tags tags(String value) {
    return value.isEmpty() ? Tags.empty() : Tags.of(TAG, value);
  }
}
