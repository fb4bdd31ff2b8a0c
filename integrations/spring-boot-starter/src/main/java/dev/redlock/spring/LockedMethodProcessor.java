package dev.redlock.spring;

import static java.util.Objects.requireNonNull;

import dev.redlock.Redlock;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Puts the lock around methods with {@link Locked}. Rejects a method at the start if it cannot do
 * this. The auto-configuration registers it.
 *
 * <p>The client is looked up at the first call, so that it may be made after this bean.
 */
public final class LockedMethodProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
    implements SmartInitializingSingleton {
  private static final long serialVersionUID = 1L;

  /** Outside of caches and transactions, unless these have an order of their own. */
  private static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

  private static final boolean TRANSACTIONS =
      ClassUtils.isPresent(
          "org.springframework.transaction.interceptor.TransactionAttributeSource",
          LockedMethodProcessor.class.getClassLoader());

  /** What a call does if its caller's transaction began before the lock. */
  public enum InTransaction {
    /** Throws {@link IllegalStateException}. */
    FAIL,
    /** Takes the lock; the first such call of each method logs a warning. */
    WARN,
    /** Takes the lock. */
    ALLOW
  }

  private final transient LockedMethods methods;
  private final int order;
  private final transient LockedInterceptor interceptor;
  private transient @Nullable ConfigurableListableBeanFactory beans;

  /**
   * A processor.
   *
   * @param redlock the client
   * @param options the options by name
   * @param environment resolves <code>${…}</code> in times, and has {@code redlock.locked.*}
   */
  public LockedMethodProcessor(
      ObjectProvider<Redlock> redlock,
      ObjectProvider<LockOptionsResolver> options,
      Environment environment) {
    methods = new LockedMethods(environment);
    InTransaction policy =
        methods.property("in-transaction", InTransaction.class, InTransaction.FAIL);
    order = methods.property("order", Integer.class, DEFAULT_ORDER);
    interceptor =
        new LockedInterceptor(
            methods,
            redlock,
            options,
            policy == InTransaction.ALLOW || !TRANSACTIONS
                ? null
                : new CallerTransactions(policy == InTransaction.FAIL));
    advisor =
        new DefaultPointcutAdvisor(
            new AnnotationMatchingPointcut(null, Locked.class, true), interceptor);
    // Before the processors of @Async and @Retryable, which put their advice around all others.
    setOrder(Ordered.LOWEST_PRECEDENCE - 1);
    setProxyTargetClass(true);
  }

  @Override
  public void setBeanFactory(BeanFactory beanFactory) {
    super.setBeanFactory(beanFactory);
    methods.setBeanFactory(beanFactory);
    interceptor.setBeanFactory(beanFactory);
    if (beanFactory instanceof ConfigurableListableBeanFactory listable) {
      beans = listable;
    }
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    Class<?> type = AopUtils.getTargetClass(bean);
    for (Method method : methods.annotated(type)) {
      methods.get(method, type); // Rejects what cannot be locked.
    }
    if (bean instanceof Advised advised
        && !(bean instanceof AopInfrastructureBean)
        && !advised.isFrozen()
        && isEligible(type)) {
      advised.addAdvisor(position(advised), requireNonNull(advisor, "advisor"));
      return bean;
    }
    return super.postProcessAfterInitialization(bean, beanName);
  }

  /** Behind all advice with this order or a lower one. */
  private int position(Advised advised) {
    Advisor[] advisors = advised.getAdvisors();
    for (int i = 0; i < advisors.length; i++) {
      int other =
          advisors[i] instanceof Ordered ordered ? ordered.getOrder() : Ordered.LOWEST_PRECEDENCE;
      if (other > order) {
        return i;
      }
    }
    return advisors.length;
  }

  /**
   * Rejects methods that would not lock: those of beans that have not passed this processor,
   * because they were made before it or registered as objects, and all of them if there is no
   * client.
   */
  @Override
  public void afterSingletonsInstantiated() {
    ConfigurableListableBeanFactory all = requireNonNull(beans, "bean factory");
    for (String name : all.getSingletonNames()) {
      Object bean = all.getSingleton(name);
      if (bean != null && !(bean instanceof AopInfrastructureBean)) {
        requireAdvised(name, bean);
      }
    }
    for (LockedMethod method : methods.all()) {
      interceptor.requireLockable(method);
    }
  }

  private void requireAdvised(String name, Object bean) {
    Class<?> type = AopUtils.getTargetClass(bean);
    if (methods.annotated(type).isEmpty() || isAdvised(bean)) {
      return;
    }
    throw new IllegalStateException(
        ("bean '%s' of %s has methods with @Locked, but calls of them would take no lock: the bean"
                + " was created before LockedMethodProcessor, because a BeanPostProcessor or"
                + " BeanFactoryPostProcessor needs it, or it was registered as an object")
            .formatted(name, type.getName()));
  }

  private boolean isAdvised(Object bean) {
    return bean instanceof Advised advised
        && advised.indexOf(requireNonNull(advisor, "advisor")) >= 0;
  }
}
