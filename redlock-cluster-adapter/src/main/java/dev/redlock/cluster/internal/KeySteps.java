package dev.redlock.cluster.internal;

import static dev.redlock.cluster.internal.Log.log;
import static java.util.Comparator.comparingLong;
import static java.util.Objects.requireNonNull;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One request in steps of one key each, while its slot is being moved.
 *
 * <p><b>Problem.</b> Lock key and fence key of a name move one after another; with many keys in the
 * slot, seconds apart. Meanwhile no master has both, and Redis refuses the scripts of {@code
 * acquire}, {@code extend} and {@code release}, which declare both. A holder could not extend.
 *
 * <p><b>Chosen way.</b> Redis executes a script with one key at all times: a key that the source
 * does not have belongs to the target. So the request becomes one step per key. An acquire takes
 * the lock key first, and raises the fence second, as its holder: two requests cannot both pass the
 * first step, and the later one raises the fence above the earlier one. If the fence refuses the
 * token, the lock key is given back. A release and an extend use the fence first. If a release
 * overtakes the acquire that it undoes, the raised fence refuses the second step of the acquire; if
 * it falls between the two steps, it also deletes the lock key that the first one took. The time to
 * live of the lock key begins after the request was sent, as ever, so the validity that the client
 * computes ends before it.
 *
 * <p>What steps do not do: enter the queue or keep its order, and write a lock key that is missing
 * again (the fence on the other master could change in between). Both wait for the end of the move.
 * No step touches an undeclared key, so nothing is written on the target that the source still has.
 */
final class KeySteps {
  private final RoutedRequest whole;
  private final LockRequest request;
  private final LockKeys keys;

  /** Why a step failed. Written before its future is done, read when those of all names are. */
  private volatile @Nullable NodeReply failure;

  /** One step that a master executed. */
  record Done(MasterLink link, NodeReply reply) {
    Code code() {
      return reply.code();
    }
  }

  KeySteps(RoutedRequest whole) {
    this.whole = whole;
    request = whole.request;
    keys = request.keys();
  }

  void begin() {
    switch (request.operation()) {
      case ACQUIRE -> acquire((LockRequest.Acquire) request);
      case EXTEND -> extend((LockRequest.Extend) request);
      case RELEASE -> release((LockRequest.Release) request);
      case BREAK -> breakLock((LockRequest.Break) request);
      case INSPECT -> inspect();
      case ENQUEUE -> throw new IllegalStateException("a request to be queued waits for the slot");
    }
  }

  private void acquire(LockRequest.Acquire acquire) {
    String ttl = Long.toString(acquire.ttlMillis());
    lockKeys(
        i -> new String[] {"take", acquire.leaseId(), ttl},
        locks -> {
          NodeReply held = longest(locks);
          if (held != null) {
            giveBack(acquire, locks, () -> end(locks, held));
          } else {
            raise(acquire, locks);
          }
        });
  }

  private void raise(LockRequest.Acquire acquire, List<Done> locks) {
    String token = Long.toString(acquire.token());
    fenceKeys(
        i -> {
          boolean owned = locks.get(i).code() == Code.EXTENDED;
          return new String[] {"raise", token, fenceLife(), owned ? "1" : "0"};
        },
        fences -> {
          Done stale = highest(fences, Code.STALE);
          if (stale != null) {
            giveBack(acquire, locks, () -> end(fences, stale.reply()));
          } else {
            end(both(locks, fences), combined(Code.GRANTED, fences));
          }
        });
  }

  /** Deletes the lock keys that this request took, not those that it found taken by its lease. */
  private void giveBack(LockRequest.Acquire acquire, List<Done> locks, Runnable then) {
    every(
        i -> locks.get(i).code() == Code.GRANTED,
        Script.LOCK_KEY,
        i -> new String[] {"release", acquire.leaseId(), "0"},
        undone -> then.run());
  }

  private void extend(LockRequest.Extend extend) {
    String token = Long.toString(extend.token());
    String ttl = Long.toString(extend.ttlMillis());
    fenceKeys(
        i -> new String[] {"extend", token, fenceLife()},
        fences -> {
          if (highest(fences, Code.LOST) != null) {
            end(fences, combined(Code.LOST, fences));
            return;
          }
          lockKeys(
              i -> new String[] {"extend", extend.leaseId(), ttl},
              locks -> {
                List<Done> all = both(locks, fences);
                if (highest(locks, Code.LOST) != null) {
                  end(all, combined(Code.LOST, all));
                } else if (highest(locks, Code.NOT_OWNER) != null) {
                  whole.failed(
                      whole.answers.failure(
                          NodeError.Kind.CLUSTER,
                          "slot "
                              + whole.slot
                              + " is being moved, and a lock key is missing: it can be written"
                              + " again after the move"));
                } else {
                  end(all, combined(Code.EXTENDED, all));
                }
              });
        });
  }

  private void release(LockRequest.Release release) {
    String token = Long.toString(release.token());
    String keep = Long.toString(release.keepMillis());
    fenceKeys(
        i -> new String[] {"release", token, fenceLife(), release.ended() ? "1" : "0"},
        fences ->
            lockKeys(
                i -> new String[] {"release", release.leaseId(), keep},
                locks -> {
                  Done released = highest(locks, Code.RELEASED);
                  wake(release, locks, fences);
                  end(fences, combined(released == null ? Code.NOT_OWNER : Code.RELEASED, fences));
                }));
  }

  /** Wakes the processes that wait; see {@link WakeUps}. */
  private void wake(LockRequest.Release release, List<Done> locks, List<Done> fences) {
    WakeUps wakeUps = new WakeUps(whole.masters, whole.slot);
    if (release.leaveQueue() != null) {
      wakeUps.leave(keys.queueKey(), release.leaveQueue());
    }
    for (int i = 0; i < keys.size(); i++) {
      if (locks.get(i).code() == Code.RELEASED) {
        wakeUps.publish(keys.lockKey(i), release.token());
        if (fences.get(i).reply().othersQueued() > 0) {
          wakeUps.wakeFirst(keys.lockKey(i), fenceLife());
        }
      }
    }
  }

  private void breakLock(LockRequest.Break broken) {
    String token = Long.toString(broken.token());
    fenceKeys(
        i -> new String[] {"break", token, fenceLife()},
        fences -> {
          Done stale = highest(fences, Code.STALE);
          if (stale != null) {
            end(fences, stale.reply());
            return;
          }
          lockKeys(
              i -> new String[] {"break"},
              locks -> {
                Done broke = highest(locks, Code.RELEASED);
                Code code = broke == null ? Code.NOT_OWNER : Code.RELEASED;
                end(fences, combined(code, fences));
              });
        });
  }

  private void inspect() {
    lockKeys(
        i -> new String[] {"read"},
        locks ->
            fenceKeys(
                i -> new String[] {"read"},
                fences -> {
                  NodeReply held = longest(locks);
                  NodeReply free = combined(Code.NOT_OWNER, fences);
                  end(
                      fences,
                      held == null
                          ? free
                          : NodeReply.held(
                              0,
                              held.nodeMicros(),
                              free.fence(),
                              held.remainingMillis(),
                              requireNonNull(held.mark())));
                }));
  }

  private String fenceLife() {
    return Long.toString(whole.fenceLifeMillis);
  }

  // One step for each name.

  private void lockKeys(IntFunction<String[]> arguments, Consumer<List<Done>> then) {
    every(i -> true, Script.LOCK_KEY, arguments, then);
  }

  private void fenceKeys(IntFunction<String[]> arguments, Consumer<List<Done>> then) {
    every(i -> true, Script.FENCE_KEY, arguments, then);
  }

  /** Executes the step for each of these names, then continues; ends the request if one fails. */
  private void every(
      IntPredicate which,
      Script script,
      IntFunction<String[]> arguments,
      Consumer<List<Done>> then) {
    List<CompletableFuture<Done>> steps =
        IntStream.range(0, keys.size())
            .filter(which)
            .mapToObj(name -> step(script, name, arguments.apply(name)))
            .toList();
    CompletableFuture.allOf(steps.toArray(CompletableFuture[]::new))
        .thenRun(() -> then.accept(steps.stream().map(CompletableFuture::join).toList()))
        .exceptionally(
            thrown -> {
              NodeReply failed = failure;
              if (failed == null) {
                log.error("a request failed with an exception between two steps", thrown);
              }
              whole.failed(
                  failed != null
                      ? whole.answers.afterSteps(failed)
                      : whole.answers.failure(
                          NodeError.Kind.UNEXPECTED, "failed between two steps: " + thrown));
              return null;
            });
  }

  private CompletableFuture<Done> step(Script script, int name, String... arguments) {
    CompletableFuture<Done> done = new CompletableFuture<>();
    boolean grants = request instanceof LockRequest.Acquire && !arguments[0].equals("release");
    new Route(
            whole,
            EncodedRequest.step(script, request, name, arguments),
            grants,
            Route.Moving.FOLLOW,
            new Route.Destination() {
              @Override
              public void reached(MasterLink link, NodeReply reply) {
                done.complete(new Done(link, reply));
              }

              @Override
              public void failed(NodeReply reply) {
                failure = reply;
                done.cancel(false);
              }

              @Override
              public void moving() {
                throw new IllegalStateException("a command with one key follows ASK");
              }
            })
        .begin();
    return done;
  }

  // The reply of the whole request.

  private void end(List<Done> steps, NodeReply reply) {
    whole.answered(whole.answers.definite(request, steps, reply));
  }

  private static List<Done> both(List<Done> locks, List<Done> fences) {
    List<Done> all = new ArrayList<>(locks);
    all.addAll(fences);
    return all;
  }

  /** The reply of the key that another lease has for the longest time; null if there is none. */
  private static @Nullable NodeReply longest(List<Done> locks) {
    return locks.stream()
        .map(Done::reply)
        .filter(reply -> reply.code() == Code.HELD)
        .max(comparingLong(NodeReply::remainingMillis))
        .orElse(null);
  }

  /** The step with this code and the highest fence; null if there is none. */
  private static @Nullable Done highest(List<Done> steps, Code code) {
    return steps.stream()
        .filter(one -> one.code() == code)
        .max(comparingLong(one -> one.reply().fence()))
        .orElse(null);
  }

  /** A reply with the latest clock, the highest fence and all others that were reported. */
  private static NodeReply combined(Code code, List<Done> steps) {
    long clock = 0;
    long fence = 0;
    int others = 0;
    for (Done one : steps) {
      clock = Math.max(clock, one.reply().nodeMicros());
      fence = Math.max(fence, one.reply().fence());
      others = Math.max(others, one.reply().othersQueued());
    }
    return new NodeReply(code, 0, clock, fence, 0, null, others, null);
  }
}
