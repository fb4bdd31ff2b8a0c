package dev.redlock.it.failures;

import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The masters of another deployment with the same key prefix and the same names of locks. It has
 * seen many changes: a client that takes its records for those of its own deployment follows them.
 */
final class Beside implements AutoCloseable {
  private static final int MASTERS = 3;
  private static final String MARKER = "redlock:%node";
  private static final String LATE_EPOCH = "100000";
  private static final long PATIENCE_NANOS = 30_000_000_000L;

  private final RedisNodes masters = RedisNodes.start(MASTERS);

  Beside(Settings settings) throws InterruptedException {
    try (Redlock first = settings.client(masters.uris(), new RedlockListener() {})) {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (!masters.stream().allMatch(Beside::isMember)) {
        if (System.nanoTime() - deadline > 0) {
          throw new IllegalStateException("no first record: " + first.operations().nodes());
        }
        Thread.sleep(20);
      }
    }
    for (RedisNode master : masters) {
      master.command("HSET", MARKER, "epoch", LATE_EPOCH, "floor", LATE_EPOCH);
    }
  }

  private static boolean isMember(RedisNode master) {
    return "1".equals(master.command("HGET", MARKER, "epoch"));
  }

  List<String> uris() {
    return masters.uris();
  }

  /** Its list, sometimes with a master of the other deployment. */
  List<String> list(Random random, List<String> foreign) {
    List<String> list = new ArrayList<>(masters.uris());
    if (random.nextBoolean()) {
      list.set(random.nextInt(MASTERS), foreign.get(random.nextInt(foreign.size())));
    }
    return list;
  }

  /** Each master still has the record with which it began, but for its place in time. */
  boolean isUnchanged() {
    return masters.stream()
        .allMatch(master -> LATE_EPOCH.equals(master.command("HGET", MARKER, "epoch")));
  }

  @Override
  public void close() {
    masters.close();
  }
}
