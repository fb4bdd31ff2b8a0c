package dev.redlock.harness.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class MemoryServerTest {
  private static final int TIMES = 3_000;
  private static final int CLIENTS = 20;

  /** Otherwise a client would continue after a restart as if the server had lost nothing. */
  @Test
  void kill_whileClientsConnect_leavesNoneConnected() throws Exception {
    for (int i = 0; i < TIMES; i++) {
      InMemoryLockNode first = InMemoryLockNode.create("killed");
      List<LockNode> nodes = new ArrayList<>();
      for (int n = 0; n < CLIENTS; n++) {
        nodes.add(first.another());
      }
      CountDownLatch connecting = new CountDownLatch(1);
      Thread clients =
          new Thread(
              () -> {
                for (LockNode node : nodes) {
                  node.start(context());
                  connecting.countDown();
                }
              });
      clients.start();
      connecting.await();

      first.kill();

      clients.join();
      assertThat(nodes).as("time " + i).noneMatch(node -> node.status().usable());
    }
  }

  private static LockNode.Context context() {
    return new LockNode.Context(
        Duration.ofSeconds(30), RestartGuard.OFF, "redlock", "", false, new Standing(), new Deaf());
  }

  /** No timer runs: a client that finds the server down stays disconnected. */
  private static final class Standing implements Time {
    @Override
    public long nanos() {
      return 0;
    }

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      return () -> {};
    }
  }

  private static final class Deaf implements LockNode.Listener {
    @Override
    public void onStatus(LockNode node) {}

    @Override
    public void onInvalidated(LockNode node, String key) {}

    @Override
    public void onAllInvalidated(LockNode node) {}
  }
}
