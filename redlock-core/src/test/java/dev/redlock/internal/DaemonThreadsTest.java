package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class DaemonThreadsTest {
  /** The group of the thread that made the client may be destroyed before Java 19. */
  @Test
  void thread_hasTheGroupOfTheThreadThatMakesIt() throws InterruptedException {
    ThreadFactory factory = DaemonThreads.platform("test-");
    ThreadGroup group = new ThreadGroup("another");
    AtomicReference<Thread> made = new AtomicReference<>();
    Thread maker = new Thread(group, () -> made.set(factory.newThread(() -> {})));
    maker.start();
    maker.join();
    assertThat(made.get().getThreadGroup()).isSameAs(group);
    assertThat(made.get().isDaemon()).isTrue();
    assertThat(made.get().getName()).startsWith("test-");
  }
}
