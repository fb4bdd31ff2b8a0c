package dev.redlock.vertx.internal;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/** The futures with which callers give up, and the questions that each of them ends. */
final class GiveUps {
  /** What calls without a way to give up pass. */
  static final Future<?> NEVER = Promise.promise().future();

  /** What each future ends. An entry goes with its future. */
  private final Map<Future<?>, Set<Runnable>> endings =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** Cancels when the future completes. */
  void add(Future<?> giveUp, Runnable cancel) {
    if (giveUp == NEVER) {
      return;
    }
    endedBy(giveUp).add(cancel);
    if (giveUp.isComplete()) { // Its handler may have run before.
      cancel.run();
    }
  }

  /** The question is answered. */
  void remove(Future<?> giveUp, Runnable cancel) {
    if (giveUp != NEVER) {
      endedBy(giveUp).remove(cancel);
    }
  }

  /** One handler serves all: a future can live for long, and a handler cannot be removed. */
  private Set<Runnable> endedBy(Future<?> giveUp) {
    return endings.computeIfAbsent(
        giveUp,
        future -> {
          Set<Runnable> all = ConcurrentHashMap.newKeySet();
          future.onComplete(given -> all.forEach(Runnable::run));
          return all;
        });
  }
}
