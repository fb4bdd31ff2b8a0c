package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.Redlock;
import dev.redlock.spring.Locked;
import dev.redlock.spring.MemoryNodes;
import dev.redlock.spring.RedlockBuilderCustomizer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.TriggerBuilder;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.quartz.SchedulerFactoryBean;
import reactor.core.publisher.Mono;

/** No lock is free before its task has ended, whatever waits for the task. */
@Timeout(120)
class ShutdownOrderTest {
  private static final long DEADLINE_SECONDS = MemoryNodes.DEADLINE.toSeconds();
  private static final String[] AWAITING = {
    "spring.task.scheduling.shutdown.await-termination=true",
    "spring.task.scheduling.shutdown.await-termination-period=60s",
    "spring.task.execution.shutdown.await-termination=true",
    "spring.task.execution.shutdown.await-termination-period=60s",
  };

  private final MemoryNodes nodes = new MemoryNodes();

  /** Its beans are made before the client, so Spring would destroy them after it. */
  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  @ImportAutoConfiguration({
    RedlockAutoConfiguration.class,
    RedlockLockedAutoConfiguration.class,
    RedlockShedLockAutoConfiguration.class,
    TaskExecutionAutoConfiguration.class,
    TaskSchedulingAutoConfiguration.class
  })
  static class App {
    @Bean
    ThreadPoolTaskExecutor awaiting() {
      ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
      pool.setCorePoolSize(1);
      pool.setWaitForTasksToCompleteOnShutdown(true);
      pool.setAwaitTerminationSeconds(60);
      return pool;
    }

    /** As {@code ExecutorService.close()} of JDK 19 does. */
    @Bean(destroyMethod = "close")
    Pool pool() {
      return new Pool(Executors.newScheduledThreadPool(1));
    }

    @Bean
    SchedulerFactoryBean quartz(ApplicationContext context) {
      SchedulerFactoryBean factory = new SchedulerFactoryBean();
      factory.setWaitForJobsToCompleteOnShutdown(true);
      factory.setSchedulerContextAsMap(Map.of("context", context));
      return factory;
    }

    @Bean
    Signals signals() {
      return new Signals();
    }

    @Bean
    Job job(Signals signals) {
      return new Job(signals);
    }

    @Bean
    FarewellBean farewell(ObjectProvider<Redlock> redlock) {
      return new FarewellBean(redlock);
    }

    @Bean
    @Lazy
    FirstDestroyed firstDestroyed() {
      return new FirstDestroyed();
    }
  }

  /** A job of Quartz, which makes it. */
  public static class QuartzJob implements org.quartz.Job {
    @Override
    public void execute(JobExecutionContext execution) {
      try {
        Map<String, Object> shared = execution.getScheduler().getContext();
        ((ApplicationContext) shared.get("context")).getBean(Job.class).run(null);
      } catch (SchedulerException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  record Pool(ScheduledExecutorService threads) {
    void close() throws InterruptedException {
      threads.shutdown();
      assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  static class Signals {
    final CountDownLatch started = new CountDownLatch(1);
    final CountDownLatch go = new CountDownLatch(1);
    final CompletableFuture<Boolean> validAtEnd = new CompletableFuture<>();
    final CompletableFuture<String> later = new CompletableFuture<>();

    void work(BooleanSupplier valid) {
      started.countDown();
      await(go);
      validAtEnd.complete(valid.getAsBoolean());
    }
  }

  static class Job {
    private final Signals signals;

    Job(Signals signals) {
      this.signals = signals;
    }

    @Locked("job")
    public void run(Lease lease) {
      signals.work(lease::isValid);
    }

    @Locked("job")
    public CompletableFuture<String> future(Lease lease) {
      signals.started.countDown();
      return signals.later;
    }

    @Locked("job")
    public Mono<String> mono(Lease lease) {
      signals.started.countDown();
      return Mono.fromFuture(signals.later);
    }

    @Locked("next")
    public void next(Lease lease) {
      signals.later.complete("valid: " + lease.isValid());
    }
  }

  static class FarewellBean implements DisposableBean {
    private final ObjectProvider<Redlock> redlock;
    private final CompletableFuture<Boolean> heldInDestroy = new CompletableFuture<>();

    FarewellBean(ObjectProvider<Redlock> redlock) {
      this.redlock = redlock;
    }

    @Override
    public void destroy() {
      try {
        heldInDestroy.complete(
            redlock.getObject().lock("farewell").withLock(MemoryNodes.DEADLINE, Lease::isValid));
      } catch (RuntimeException e) {
        heldInDestroy.completeExceptionally(e);
      }
    }
  }

  /** Made last, and so destroyed first: when all phases of the shutdown are over. */
  static class FirstDestroyed implements DisposableBean {
    final CountDownLatch destroyed = new CountDownLatch(1);

    @Override
    public void destroy() {
      destroyed.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private ConfigurableApplicationContext start(String... properties) {
    List<String> all = new ArrayList<>(List.of(properties));
    all.add("redlock.restart-guard=off");
    all.add("logging.level.root=warn");
    ConfigurableApplicationContext context =
        new SpringApplicationBuilder(App.class)
            .web(WebApplicationType.NONE)
            .bannerMode(Banner.Mode.OFF)
            .registerShutdownHook(false)
            .properties(all.toArray(String[]::new))
            .initializers(
                made ->
                    made.getBeanFactory()
                        .registerSingleton("nodes", (RedlockBuilderCustomizer) this::addNodes))
            .run();
    assertThat(context.getBean(Redlock.class).awaitReady(MemoryNodes.DEADLINE)).isTrue();
    return context;
  }

  private void addNodes(dev.redlock.RedlockBuilder builder) {
    nodes.customizer().customize(builder);
  }

  /** Closes the context, and returns when Spring destroys its beans. */
  private static CompletableFuture<Void> closing(ConfigurableApplicationContext context) {
    FirstDestroyed first = context.getBean(FirstDestroyed.class);
    CompletableFuture<Void> closed = CompletableFuture.runAsync(context::close);
    await(first.destroyed);
    return closed;
  }

  private void shutdown_keepsTheLockUntilTheTaskHasEnded(
      BiConsumer<ConfigurableApplicationContext, Job> begin, String lock, String... properties)
      throws Exception {
    try (ConfigurableApplicationContext context = start(properties)) {
      Job job = context.getBean(Job.class);
      Signals signals = context.getBean(Signals.class);
      begin.accept(context, job);
      await(signals.started);
      CompletableFuture<Void> closed = closing(context);
      assertThat(nodes.isHeld(lock)).as("the lock of a task that runs").isTrue();
      signals.go.countDown();
      closed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      assertThat(signals.validAtEnd).isCompletedWithValue(true);
      assertThat(nodes.holders(lock)).isZero();
    }
  }

  @Test
  void shutdown_thatAwaitsScheduledTasks_keepsTheirLocks() throws Exception {
    shutdown_keepsTheLockUntilTheTaskHasEnded(
        (context, job) ->
            context.getBean(TaskScheduler.class).schedule(() -> job.run(null), Instant.now()),
        "job",
        AWAITING);
  }

  @Test
  void shutdown_thatAwaitsTasksOfTheApplicationsExecutor_keepsTheirLocks() throws Exception {
    shutdown_keepsTheLockUntilTheTaskHasEnded(
        (context, job) ->
            context
                .getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
                .execute(() -> job.run(null)),
        "job",
        with("spring.task.execution.mode=force"));
  }

  @Test
  void shutdown_thatAwaitsVirtualThreads_keepsTheirLocks() throws Exception {
    assumeThat(Runtime.version().feature()).as("virtual threads").isGreaterThanOrEqualTo(21);
    for (String bean : new String[] {"taskScheduler", "applicationTaskExecutor"}) {
      shutdown_keepsTheLockUntilTheTaskHasEnded(
          (context, job) -> context.getBean(bean, Executor.class).execute(() -> job.run(null)),
          "job",
          with("spring.threads.virtual.enabled=true", "spring.task.execution.mode=force"));
    }
  }

  private static String[] with(String... more) {
    List<String> all = new ArrayList<>(List.of(AWAITING));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  @Test
  void shutdown_thatAwaitsAPoolOfTheApplication_keepsTheLocksOfItsTasks() throws Exception {
    shutdown_keepsTheLockUntilTheTaskHasEnded(
        (context, job) -> context.getBean(Pool.class).threads().execute(() -> job.run(null)),
        "job");
  }

  @Test
  void shutdown_thatAwaitsAJobOfQuartz_keepsItsLock() throws Exception {
    shutdown_keepsTheLockUntilTheTaskHasEnded(
        (context, job) -> {
          try {
            context
                .getBean(Scheduler.class)
                .scheduleJob(
                    JobBuilder.newJob(QuartzJob.class).build(),
                    TriggerBuilder.newTrigger().startNow().build());
          } catch (SchedulerException e) {
            throw new IllegalStateException(e);
          }
        },
        "job");
  }

  @Test
  void shutdown_thatAwaitsATaskOfShedLock_keepsItsLock() throws Exception {
    shutdown_keepsTheLockUntilTheTaskHasEnded(
        (context, job) -> {
          Signals signals = context.getBean(Signals.class);
          LockingTaskExecutor locking =
              new DefaultLockingTaskExecutor(context.getBean(LockProvider.class));
          context
              .getBean("awaiting", Executor.class)
              .execute(
                  () -> locking.executeWithLock((Runnable) () -> signals.work(() -> true), shed()));
        },
        "shedlock:job");
  }

  private static LockConfiguration shed() {
    return new LockConfiguration(
        Instant.now(), "job", Duration.ofMinutes(10), Duration.ofMillis(1));
  }

  @Test
  void shutdown_whileATaskWaitsInTheQueueOfItsExecutor_grantsItsLock() throws Exception {
    try (ConfigurableApplicationContext context = start()) {
      Job job = context.getBean(Job.class);
      Signals signals = context.getBean(Signals.class);
      Executor single = context.getBean("awaiting", Executor.class);
      single.execute(() -> job.run(null));
      single.execute(() -> job.next(null));
      await(signals.started);
      CompletableFuture<Void> closed = closing(context);
      signals.go.countDown();
      closed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      assertThat(signals.later).isCompletedWithValue("valid: true");
      assertThat(nodes.holders("next")).isZero();
    }
  }

  @Test
  void beanThatUsesALockInItsDestruction_getsIt() {
    ConfigurableApplicationContext context = start();
    FarewellBean farewell = context.getBean(FarewellBean.class);
    context.close();
    assertThat(farewell.heldInDestroy).isCompletedWithValue(true);
    assertThat(nodes.holders("farewell")).isZero();
  }

  /** No bean waits for the result; the grace period of the client does. */
  @Test
  void shutdown_whileAnAsynchronousResultIsPending_keepsItsLockUntilItIsThere() throws Exception {
    for (boolean reactive : new boolean[] {false, true}) {
      try (ConfigurableApplicationContext context = start("redlock.shutdown.grace-period=60s")) {
        Job job = context.getBean(Job.class);
        Signals signals = context.getBean(Signals.class);
        CompletableFuture<String> result = reactive ? job.mono(null).toFuture() : job.future(null);
        await(signals.started);
        CompletableFuture<Void> closed = closing(context);
        assertThat(nodes.isHeld("job")).isTrue();
        assertThat(closed).isNotDone();
        signals.later.complete("done");
        closed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        assertThat(result.get(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(nodes.holders("job")).isZero();
      }
    }
  }

  @Test
  void shutdown_whoseGracePeriodHasPassed_namesTheLocksAndTellsTheCallers() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(Redlock.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    for (boolean reactive : new boolean[] {false, true}) {
      ConfigurableApplicationContext context = start("redlock.shutdown.grace-period=20ms");
      logger.addAppender(log); // The start of the application resets the loggers.
      Job job = context.getBean(Job.class);
      Signals signals = context.getBean(Signals.class);
      CompletableFuture<String> result = reactive ? job.mono(null).toFuture() : job.future(null);
      await(signals.started);
      context.close();
      assertThat(log.list)
          .anyMatch(
              event -> event.getFormattedMessage().matches("closing the client.*\\[job\\].*"));
      assertThat(nodes.holders("job")).isZero();
      signals.later.complete("too late");
      assertThatThrownBy(() -> result.get(DEADLINE_SECONDS, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .satisfies(
              e ->
                  assertThat(((LeaseLostException) e.getCause()).end()).isEqualTo(LeaseEnd.CLOSED));
      logger.detachAppender(log);
      log.list.clear();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(RedlockAutoConfiguration.class)
  static class SeveralClients {
    private static final MemoryNodes NODES = new MemoryNodes();

    @Bean
    Redlock orders() {
      return NODES.client("orders");
    }

    /** Not a candidate where a client is injected, but a client that must close. */
    @Bean(defaultCandidate = false)
    Redlock bills() {
      return NODES.client("bills");
    }

    @Bean
    Redlock stock() {
      return NODES.client("stock");
    }

    @Bean
    @Lazy
    FirstDestroyed firstDestroyed() {
      return new FirstDestroyed();
    }
  }

  @Test
  void shutdown_withSeveralClients_waitsForTheLeasesOfEach() throws Exception {
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(SeveralClients.class)
            .web(WebApplicationType.NONE)
            .bannerMode(Banner.Mode.OFF)
            .registerShutdownHook(false)
            .properties("redlock.shutdown.grace-period=60s", "logging.level.root=warn")
            .run()) {
      List<Lease> leases = new ArrayList<>();
      for (String client : List.of("orders", "bills", "stock")) {
        leases.add(
            context.getBean(client, Redlock.class).lock(client).acquire(MemoryNodes.DEADLINE));
      }
      CompletableFuture<Void> closed = closing(context);
      for (Lease lease : leases) {
        assertThat(closed).isNotDone();
        lease.close();
        assertThat(lease.whenEnded().toCompletableFuture().get(DEADLINE_SECONDS, TimeUnit.SECONDS))
            .isEqualTo(LeaseEnd.RELEASED);
      }
      closed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }
  }

  @Test
  void context_thatIsStoppedAndStartedAgain_grantsLocks() throws Exception {
    try (ConfigurableApplicationContext context = start()) {
      Redlock redlock = context.getBean(Redlock.class);
      for (int i = 0; i < 2; i++) {
        context.stop();
        context.start();
        assertThat(context.isRunning()).isTrue();
        redlock.lock("job").acquire(MemoryNodes.DEADLINE).close();
      }
      Job job = context.getBean(Job.class);
      Signals signals = context.getBean(Signals.class);
      context.getBean(Pool.class).threads().execute(() -> job.run(null));
      await(signals.started);
      CompletableFuture<Void> closed = closing(context);
      assertThat(nodes.isHeld("job")).as("the order of destruction is the same").isTrue();
      signals.go.countDown();
      closed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      assertThat(signals.validAtEnd).isCompletedWithValue(true);
    }
  }
}
