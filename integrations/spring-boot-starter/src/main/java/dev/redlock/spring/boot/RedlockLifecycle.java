package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Closes all clients of the context after all beans that may use them. Many of them wait for their
 * tasks when Spring destroys them, after all phases of the shutdown: schedulers and executors that
 * await their tasks, Quartz, an {@code ExecutorService}. Their tasks may even take new locks then.
 * So the clients serve until they are destroyed, and only then close, with a grace period for tasks
 * of other threads.
 *
 * <p>A stop of the context that is not its end changes nothing: the clients still serve.
 */
public final class RedlockLifecycle
    implements SmartLifecycle, BeanFactoryAware, BeanNameAware, DisposableBean {
  /** The phase in which the order of destruction is set: the last one. */
  public static final int PHASE = Integer.MIN_VALUE;

  private final Duration gracePeriod;
  private Collection<Redlock> clients = List.of();
  private @Nullable ConfigurableListableBeanFactory beans;
  private String name = "";
  private volatile boolean running; // Written by the thread that starts or stops the context.

  RedlockLifecycle(Duration gracePeriod) {
    this.gracePeriod = gracePeriod;
  }

  /** The clients of this context only: that of a parent serves until the parent is closed. */
  @Override
  public void setBeanFactory(BeanFactory beanFactory) {
    if (beanFactory instanceof ConfigurableListableBeanFactory listable) {
      beans = listable;
      Map<String, Redlock> named = listable.getBeansOfType(Redlock.class, false, true);
      named.keySet().forEach(client -> listable.registerDependentBean(client, name));
      clients = named.values();
    }
  }

  /** Spring calls this first. */
  @Override
  public void setBeanName(String name) {
    this.name = name;
  }

  @Override
  public void start() {
    running = true;
  }

  /** All beans are there now, and none is destroyed yet. */
  @Override
  public void stop() {
    running = false;
    if (beans != null) {
      new DestructionOrder(beans, name).destroyUsersFirst();
    }
  }

  /** The grace period is that of all clients together. */
  @Override
  public void destroy() {
    long begin = System.nanoTime();
    RuntimeException failure = null;
    for (Redlock client : clients) {
      Duration left = gracePeriod.minusNanos(System.nanoTime() - begin);
      try {
        client.close(left.isNegative() ? Duration.ZERO : left);
      } catch (RuntimeException e) { // The others must close too.
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
