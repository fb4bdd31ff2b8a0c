package dev.redlock.it;

import dev.redlock.testkit.RedisSource;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Tests that run on containers where a Docker engine answers, and are skipped elsewhere. Each class
 * says how many ran, or why none did, and the last line of the JVM says it of all of them.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnContainers.Condition.class)
public @interface OnContainers {

  /** Skips classes, and counts. */
  final class Condition implements ExecutionCondition, AfterEachCallback, AfterAllCallback {
    /** Asked once per JVM: an engine does not come and go while tests run. */
    private static final Optional<String> WHY_NOT = RedisSource.DOCKER.whyUnavailable();

    private static final AtomicInteger RAN = new AtomicInteger();
    private static final AtomicInteger RAN_IN_ALL = new AtomicInteger();
    private static final AtomicInteger CLASSES = new AtomicInteger();

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      if (WHY_NOT.isEmpty()) {
        return ConditionEvaluationResult.enabled("a Docker engine answers");
      }
      if (outermost(context)) {
        count(context);
        say("none ran: " + WHY_NOT.get().replaceAll("\\s*\n\\s*", " "), context);
      }
      return ConditionEvaluationResult.disabled(WHY_NOT.get());
    }

    @Override
    public void afterEach(ExtensionContext context) {
      RAN.incrementAndGet();
      RAN_IN_ALL.incrementAndGet();
    }

    @Override
    public void afterAll(ExtensionContext context) {
      if (outermost(context)) {
        count(context);
        say(RAN.getAndSet(0) + " ran", context);
      }
    }

    /** The first class sees to it that the sum is told when JUnit is done with all of them. */
    private static void count(ExtensionContext context) {
      CLASSES.incrementAndGet();
      context
          .getRoot()
          .getStore(ExtensionContext.Namespace.GLOBAL)
          .getOrComputeIfAbsent(
              Condition.class,
              key ->
                  (AutoCloseable)
                      () ->
                          System.out.println(
                              "[redlock-it] container tests in all: "
                                  + RAN_IN_ALL
                                  + " ran, of "
                                  + CLASSES
                                  + " classes"
                                  + WHY_NOT
                                      .map(why -> "; " + why.lines().findFirst().orElse(""))
                                      .orElse("")));
    }

    /** A class, and not one nested in another: those belong to that. */
    private static boolean outermost(ExtensionContext context) {
      return context.getTestMethod().isEmpty()
          && context.getRequiredTestClass().getEnclosingClass() == null;
    }

    private static void say(String what, ExtensionContext context) {
      System.out.println(
          "[redlock-it] container tests of "
              + context.getRequiredTestClass().getSimpleName()
              + ": "
              + what);
    }
  }
}
