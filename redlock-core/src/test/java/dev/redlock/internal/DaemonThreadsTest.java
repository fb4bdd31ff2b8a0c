package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
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

  /** A pool starts a thread when a task comes, perhaps in a request of one of many users. */
  @Test
  void thread_hasNeitherTheInheritableLocalsNorTheClassLoaderOfTheThreadThatMakesIt()
      throws Exception {
    InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
    Thread here = Thread.currentThread();
    ClassLoader before = here.getContextClassLoader();
    user.set("user of the request");
    try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
      here.setContextClassLoader(application);
      for (ThreadFactory factory :
          List.of(DaemonThreads.platform("test-"), DaemonThreads.lightest("test-"))) {
        CompletableFuture<String> seen = new CompletableFuture<>();
        Thread thread =
            factory.newThread(
                () ->
                    seen.complete(
                        user.get() + " " + Thread.currentThread().getContextClassLoader()));
        thread.start();
        assertThat(seen.get(20, TimeUnit.SECONDS))
            .isEqualTo("null " + DaemonThreads.class.getClassLoader());
      }
    } finally {
      here.setContextClassLoader(before);
      user.remove();
    }
  }
}
