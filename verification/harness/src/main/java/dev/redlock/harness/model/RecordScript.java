package dev.redlock.harness.model;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeRecord.Change;

/** The executable specification of {@code record.lua}: how a node changes its record. */
public final class RecordScript {
  private RecordScript() {}

  /**
   * What a node that stores {@code stored} stores after the change.
   *
   * @param nowMicros node time
   */
  public static NodeRecord after(NodeRecord stored, Change change, long nowMicros) {
    NodeRecord given = change.record();
    if (change.kind() == Change.Kind.FORGET) {
      return stored.id().equals(given.id()) ? NodeRecord.NONE : stored;
    }
    if (stored.isUnreadable() || (stored.exists() && !stored.id().equals(given.id()))) {
      return stored; // Of another deployment.
    }
    return switch (change.kind()) {
      case FORGET -> throw new AssertionError(change);
      case TELL -> told(stored, given, nowMicros);
      case PROMISE ->
          stored.exists() && stored.promised() < given.promised()
              ? copy(
                  stored, stored.floor(), stored.ballot(), given.promised(), stored.sinceMicros())
              : stored;
      case OPEN -> opened(stored, given, nowMicros);
      case SEAL -> stored.isOfSameSet(given) ? raised(stored, given.epoch(), nowMicros) : stored;
    };
  }

  private static NodeRecord told(NodeRecord stored, NodeRecord given, long now) {
    if (given.isProposal()) {
      // With a ballot it ends a split between proposals of one list: the smallest id stays.
      boolean first = stored.members().isEmpty();
      boolean smaller =
          stored.members().equals(given.members()) && given.id().compareTo(stored.id()) < 0;
      boolean open = !stored.exists() && (first || (given.ballot() > 0 && smaller));
      return open
          ? NodeRecord.proposal(given.id(), given.members(), given.maxLeaseMillis())
              .of(given.name())
          : stored;
    }
    // An open set counts as written by its operator, which the node may have promised to refuse.
    boolean refused = !given.isSealed() && given.ballot() < stored.promised();
    boolean newer = given.epoch() > stored.epoch() && !refused;
    boolean chosen =
        given.epoch() == stored.epoch()
            && given.isSealed()
            && !stored.isSealed()
            && !given.isOfSameSet(stored);
    if (newer || chosen) {
      return written(
          given, stored, given.floor(), given.ballot(), promise(stored, given, now), now);
    }
    if (!stored.isOfSameSet(given)) {
      return stored;
    }
    NodeRecord raised = raised(stored, given.floor(), now);
    return given.isComplete() ? raised.complete() : raised;
  }

  /** A member that has lost its record has forgotten whom it has promised to refuse. */
  private static long promise(NodeRecord stored, NodeRecord given, long now) {
    boolean joins =
        !given.isSealed() && !given.before().isEmpty() && !given.before().contains(given.name());
    return stored.exists() || joins ? Math.max(stored.promised(), given.ballot()) : now;
  }

  private static NodeRecord opened(NodeRecord stored, NodeRecord given, long now) {
    if (!stored.exists()) {
      // A member that has lost its record gets it by the word of another member first.
      return given.before().contains(given.name())
          ? stored
          : written(given, stored, given.epoch() - 1, given.ballot(), given.ballot(), now);
    }
    boolean next = stored.epoch() < given.epoch();
    boolean again =
        stored.epoch() == given.epoch() && stored.ballot() < given.ballot() && !stored.isSealed();
    return stored.promised() <= given.ballot() && (next || again)
        ? written(given, stored, given.epoch() - 1, given.ballot(), given.ballot(), now)
        : stored;
  }

  /** The given set, over what is stored; the floor does not fall. */
  private static NodeRecord written(
      NodeRecord given, NodeRecord stored, long atLeast, long ballot, long promise, long now) {
    // A name that the proposal of another deployment gave does not stay.
    boolean named = stored.id().equals(given.id()) && !stored.name().isEmpty();
    long floor = Math.max(stored.floor(), atLeast);
    long since = floor > stored.floor() ? now : stored.sinceMicros();
    NodeRecord own = given.of(named ? stored.name() : given.name());
    return copy(own, floor, ballot, promise, since);
  }

  private static NodeRecord raised(NodeRecord stored, long to, long now) {
    return to <= stored.floor()
        ? stored
        : copy(stored, to, stored.ballot(), stored.promised(), now);
  }

  private static NodeRecord copy(NodeRecord of, long floor, long ballot, long promise, long since) {
    return new NodeRecord(
        of.id(),
        of.name(),
        of.epoch(),
        of.members(),
        of.before(),
        floor,
        ballot,
        promise,
        of.maxLeaseMillis(),
        of.maxLeaseBefore(),
        since);
  }
}
