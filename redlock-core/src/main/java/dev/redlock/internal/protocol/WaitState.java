package dev.redlock.internal.protocol;

/**
 * What a {@link Wait} does now: it asks, sleeps, or is about to ask. Each state is left by one kind
 * of event: the next request, a reply, the verdict, or time and hints.
 */
sealed interface WaitState {
  /** It asks as soon as this process does not hold the lock. */
  record Ready(Whom whom) implements WaitState {}

  /**
   * One node is asked to queue this process. If it does not reply, the next home node is asked.
   *
   * @param hinted whether a release hint came meanwhile; it may have overtaken the reply
   */
  record EnteringQueue(QueueRequest request, boolean hinted) implements WaitState {
    @Override
    public void deadlines(NextWake wake) {
      wake.at(request.deadlineNanos);
    }
  }

  /** All nodes are asked for the lock. What comes next depends on the verdict. */
  record AskingAll(AcquireRound round) implements WaitState {
    @Override
    public void deadlines(NextWake wake) {
      wake.at(round.wakeNanos());
    }
  }

  /**
   * It asks again at this time: it is queued, or backs off.
   *
   * @param heedsHints whether a hint may end the sleep earlier
   */
  record Asleep(long untilNanos, boolean heedsHints, Whom whom) implements WaitState {
    @Override
    public boolean isOver(long now) {
      return untilNanos - now <= 0;
    }

    @Override
    public void deadlines(NextWake wake) {
      wake.at(untilNanos);
    }
  }

  /** Whom the next request goes to. While one is under way, what comes of it decides. */
  default Whom whom() {
    return Whom.ALL_UNLESS_OTHERS_WANT;
  }

  /** Whether a hint may end it. */
  default boolean heedsHints() {
    return false;
  }

  /** Whether the sleep is over then, if there is one. */
  default boolean isOver(long now) {
    return true;
  }

  /** Adds the time at which this state is to be looked at again, if there is one. */
  default void deadlines(NextWake wake) {}
}
