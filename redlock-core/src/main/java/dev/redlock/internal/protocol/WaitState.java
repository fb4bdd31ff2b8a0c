package dev.redlock.internal.protocol;

/** What a {@link Wait} does now: it asks, sleeps, or is about to ask. */
sealed interface WaitState {
  /** It asks as soon as this process does not hold the lock. */
  record Ready() implements WaitState {}

  /**
   * One node is asked to queue this process.
   *
   * @param hinted whether a release hint came meanwhile; it may have overtaken the reply
   */
  record EnteringQueue(QueueRequest request, boolean hinted) implements WaitState {
    @Override
    public void deadlines(NextWake wake) {
      wake.at(request.deadlineNanos);
    }
  }

  /** All nodes are asked for the lock. */
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
  record Asleep(long untilNanos, boolean heedsHints) implements WaitState {
    @Override
    public boolean isOver(long now) {
      return untilNanos - now <= 0;
    }

    @Override
    public void deadlines(NextWake wake) {
      wake.at(untilNanos);
    }
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
