package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A {@link NodeRecord} as the scripts take and reply it; {@code record_fields.lua} says how. */
public final class RecordFields {
  /** How many elements of a reply a record takes. */
  public static final int COUNT = 11;

  private static final String BETWEEN = "\n";

  private RecordFields() {}

  /**
   * The arguments of {@code record.lua}.
   *
   * @throws IllegalArgumentException if a name is no text of one line
   */
  public static List<String> arguments(NodeRecord.Change change) {
    NodeRecord given = change.record();
    Stream.concat(given.members().stream(), given.before().stream())
        .forEach(RecordFields::requireName);
    if (given.name().contains(BETWEEN)) {
      requireName(given.name());
    }
    return List.of(
        change.kind().name(),
        given.name(),
        Long.toString(given.epoch()),
        String.join(BETWEEN, given.members()),
        String.join(BETWEEN, given.before()),
        Long.toString(given.floor()),
        Long.toString(given.ballot()),
        Long.toString(given.promised()),
        Long.toString(given.maxLeaseMillis()),
        Long.toString(given.maxLeaseBefore()),
        given.id());
  }

  private static void requireName(String name) {
    if (name.isEmpty() || name.contains(BETWEEN)) {
      throw new IllegalArgumentException("node name '" + name + "' is not a text of one line");
    }
  }

  /**
   * The record in a reply.
   *
   * @param at the index of its first element
   */
  public static NodeRecord record(List<Object> reply, int at) {
    List<String> words = new ArrayList<>(COUNT);
    for (Object element : reply.subList(at, at + COUNT)) {
      words.add(new String((byte[]) element, UTF_8));
    }
    return new NodeRecord(
        words.get(9),
        words.get(0),
        Long.parseLong(words.get(1)),
        names(words.get(2)),
        names(words.get(3)),
        Long.parseLong(words.get(4)),
        Long.parseLong(words.get(5)),
        Long.parseLong(words.get(6)),
        Long.parseLong(words.get(7)),
        Long.parseLong(words.get(8)),
        Long.parseLong(words.get(10)));
  }

  private static List<String> names(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(BETWEEN, -1));
  }
}
