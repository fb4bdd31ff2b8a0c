package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the client after all beans that may use it. Many of them wait for their tasks when Spring
 * destroys them, after all phases of the shutdown: schedulers and executors that await their tasks,
 * Quartz, an {@code ExecutorService}. Their tasks may even take new locks then. So the client
 * serves until they are destroyed, and only then closes, with a grace period for tasks of other
 * threads.
 *
 * <p>A stop of the context that is not its end changes nothing: the client still serves.
 */
public final class RedlockLifecycle
    implements SmartLifecycle, BeanFactoryAware, BeanNameAware, DisposableBean {
  /** The phase in which the order of destruction is set: the last one. */
  public static final int PHASE = Integer.MIN_VALUE;

  private final Redlock redlock;
  private final Duration gracePeriod;
  private @Nullable ConfigurableListableBeanFactory beans;
  private String name = "";
  private volatile boolean running; // Written by the thread that starts or stops the context.

  RedlockLifecycle(Redlock redlock, Duration gracePeriod) {
    this.redlock = redlock;
    this.gracePeriod = gracePeriod;
  }

  @Override
  public void setBeanFactory(BeanFactory beanFactory) {
    if (beanFactory instanceof ConfigurableListableBeanFactory listable) {
      beans = listable;
    }
  }

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

  @Override
  public void destroy() {
    redlock.close(gracePeriod);
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
