package dev.redlock.spring;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Moves the validation of arguments before the lock: a call that is not valid does not wait. Spring
 * adds this advice behind all others. Without an order, so it comes after the processor that does.
 * The auto-configuration registers it.
 */
public final class ValidationFirst implements BeanPostProcessor {
  private static final String VALIDATION =
      "org.springframework.validation.beanvalidation.MethodValidationInterceptor";

  /** A processor. */
  public ValidationFirst() {}

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    if (bean instanceof Advised advised && !advised.isFrozen()) {
      int lock = -1;
      Advisor[] advisors = advised.getAdvisors();
      for (int i = 0; i < advisors.length; i++) {
        if (advisors[i].getAdvice() instanceof LockedInterceptor) {
          lock = i;
        } else if (lock >= 0 && advisors[i].getAdvice().getClass().getName().equals(VALIDATION)) {
          advised.removeAdvisor(i);
          advised.addAdvisor(lock, advisors[i]);
          return bean;
        }
      }
    }
    return bean;
  }
}
