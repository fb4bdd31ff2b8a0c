package dev.redlock.cli.look;

import static java.time.temporal.ChronoUnit.MILLIS;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import dev.redlock.internal.text.Printable;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockInspection.NodeView;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the nodes say together about one lock.
 *
 * @param state whether a quorum of nodes stores one lease, or none
 * @param holder the hash of the lease that most nodes store; null if no node stores one
 * @param label the label of its holder; null if it has none
 * @param storedBy how many nodes store it
 * @param remaining the time after which fewer nodes than a quorum store it, unless it is extended;
 *     null unless it is held
 * @param answered how many nodes replied
 */
record Holding(
    State state,
    @Nullable String holder,
    @Nullable String label,
    int storedBy,
    @Nullable Duration remaining,
    long answered) {

  enum State {
    HELD,
    FREE,
    /** Too few nodes replied, or no lease has a quorum. */
    UNKNOWN
  }

  static Holding of(LockInspection inspection) {
    long answered = inspection.nodes().stream().filter(view -> view.error() == null).count();
    Map<String, List<NodeView>> byHolder =
        inspection.nodes().stream()
            .filter(view -> view.holder() != null)
            .collect(groupingBy(NodeView::holder, TreeMap::new, toList()));
    List<NodeView> most =
        byHolder.values().stream().max(Comparator.comparingInt(List::size)).orElse(List.of());
    int stored = byHolder.values().stream().mapToInt(List::size).sum();
    State state =
        most.size() >= inspection.quorum()
            ? State.HELD
            : answered - stored >= inspection.quorum() ? State.FREE : State.UNKNOWN;
    NodeView one = most.isEmpty() ? null : most.get(0);
    return new Holding(
        state,
        one == null ? null : one.holder(),
        one == null ? null : one.holderLabel(),
        most.size(),
        state == State.HELD ? until(most, inspection.quorum()).truncatedTo(MILLIS) : null,
        answered);
  }

  /** When the lease has expired on so many nodes that the rest is no quorum. */
  private static Duration until(List<NodeView> views, int quorum) {
    return views.stream()
        .map(view -> view.remaining() == null ? Duration.ZERO : view.remaining())
        .sorted(Comparator.reverseOrder())
        .toList()
        .get(quorum - 1);
  }

  /** One sentence for people. */
  String sentence(LockInspection inspection) {
    int n = inspection.nodes().size();
    String left = remaining == null ? "?" : Printable.of(remaining);
    return switch (state) {
      case HELD ->
          "%s is held by %s, stored by %d of %d nodes, for another %s unless it is extended"
              .formatted(name(inspection), who(), storedBy, n, left);
      case FREE -> "%s is free".formatted(name(inspection));
      case UNKNOWN ->
          holder == null
              ? "%s: unknown, %d of %d nodes replied and %d are needed"
                  .formatted(name(inspection), answered, n, inspection.quorum())
              : "%s: unknown, %s is stored by %d of %d nodes and %d are needed (%d replied)"
                  .formatted(name(inspection), who(), storedBy, n, inspection.quorum(), answered);
    };
  }

  private static String name(LockInspection inspection) {
    return "'" + Printable.of(inspection.name()) + "'";
  }

  private String who() {
    return client(label) + " (lease " + holder + ")";
  }

  /** A client, by the label that it has, if any. */
  static String client(@Nullable String label) {
    return label == null ? "a client without a label" : "'" + Printable.of(label) + "'";
  }
}
