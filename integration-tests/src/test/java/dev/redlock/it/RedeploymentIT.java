package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a container sees that loads the library with an application, ends it, and loads it anew. */
@RedisTest(nodes = 3)
class RedeploymentIT {
  private static final int FEW = 3;
  private static final int TEN = 10;
  private static final int MANY = Integer.getInteger("redlock.deployments", 20);
  private static final int REQUESTS = 4;

  /** A class loader that a cache of the JDK keeps, because it has seen no other one since. */
  private static final int OF_THE_JDK = 1;

  /** File descriptors that the JVM and the test itself may open meanwhile. */
  private static final int OF_THE_JVM = 5;

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RedisNodes nodes;

  /** The threads of the container. They outlive each application. */
  private final ExecutorService deployer = Executors.newSingleThreadExecutor();

  private final ExecutorService requests = Executors.newFixedThreadPool(REQUESTS);

  RedeploymentIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @AfterEach
  void endThreads() {
    deployer.shutdownNow();
    requests.shutdownNow();
  }

  @Test
  void redeployments_leaveNoThreadAndNoClassLoader() throws Exception {
    List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
    deploy(FEW, loaders);
    awaitCollected(loaders);
  }

  @Test
  @Tag("thorough")
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void manyRedeployments_leaveNoMoreThanTen() throws Exception {
    List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
    deploy(TEN, loaders);
    int afterTen = report(TEN);
    deploy(MANY - TEN, loaders);
    awaitCollected(loaders);
    report(MANY);
    Eventually.holds(
        () -> {
          System.gc();
          return descriptors() <= afterTen + OF_THE_JVM;
        },
        PATIENCE,
        () -> descriptors() + " file descriptors, after ten redeployments " + afterTen);
  }

  private void deploy(int times, List<WeakReference<ClassLoader>> loaders) throws Exception {
    for (int i = 0; i < times; i++) {
      loaders.add(deploy());
    }
  }

  private static void awaitCollected(List<WeakReference<ClassLoader>> loaders) {
    forgetRecords();
    Eventually.holds(
        () -> {
          System.gc();
          return count(loaders) <= OF_THE_JDK;
        },
        PATIENCE,
        () -> count(loaders) + " class loaders are reachable");
  }

  private static long count(List<WeakReference<ClassLoader>> loaders) {
    return loaders.stream().filter(loader -> loader.get() != null).count();
  }

  /** The JDK keeps the types of the components of the last record that it has linked. */
  private static void forgetRecords() {
    record Other(RedeploymentIT component) {}

    Other other = new Other(null);
    assertThat(other.equals(new Other(null)) && other.hashCode() == 0).as("%s", other).isTrue();
  }

  private static int report(int deployments) {
    System.out.printf(
        "after %d redeployments: %d threads, %d classes, %d file descriptors%n",
        deployments,
        Thread.getAllStackTraces().size(),
        ManagementFactory.getClassLoadingMXBean().getLoadedClassCount(),
        descriptors());
    return descriptors();
  }

  /** The number of open file descriptors; 0 if the machine does not tell. */
  private static int descriptors() {
    String[] open = new File("/proc/self/fd").list();
    return open == null ? 0 : open.length;
  }

  private WeakReference<ClassLoader> deploy() throws Exception {
    try (URLClassLoader loader =
        new URLClassLoader("application", classPath(), ClassLoader.getPlatformClassLoader())) {
      AutoCloseable application = in(loader, deployer, () -> build(loader)).get();
      Callable<?> use = Executors.callable((Runnable) application);
      List<Future<?>> uses = new ArrayList<>();
      uses.add(in(loader, deployer, use));
      for (int i = 0; i < 2 * REQUESTS; i++) {
        uses.add(in(loader, requests, use));
      }
      for (Future<?> one : uses) {
        one.get();
      }
      Callable<?> close =
          () -> {
            application.close();
            return null;
          };
      in(loader, deployer, close).get();
      assertThat(threadsOf(loader)).as("threads that outlive the close").isEmpty();
      return new WeakReference<>(loader);
    }
  }

  private AutoCloseable build(ClassLoader loader) throws ReflectiveOperationException {
    String[] uris = nodes.uris().toArray(String[]::new);
    return (AutoCloseable)
        loader
            .loadClass(DeployedApplication.class.getName())
            .getConstructor(String[].class)
            .newInstance((Object) uris);
  }

  /** The threads of the application's library: they have its class loader. */
  private static List<Thread> threadsOf(ClassLoader loader) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(t -> t.getContextClassLoader() == loader)
        .filter(Thread::isAlive)
        .toList();
  }

  private static <T> Future<T> in(ClassLoader loader, ExecutorService threads, Callable<T> task) {
    return threads.submit(
        () -> {
          Thread here = Thread.currentThread();
          ClassLoader own = here.getContextClassLoader();
          here.setContextClassLoader(loader);
          try {
            return task.call();
          } finally {
            here.setContextClassLoader(own);
          }
        });
  }

  private static URL[] classPath() throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }
}
