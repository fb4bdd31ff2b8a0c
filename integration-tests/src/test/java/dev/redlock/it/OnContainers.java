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
 * Marks tests that run on containers. Without a Docker engine they are skipped. Each class prints
 * how many of its tests ran, or why none ran; the last line of the JVM prints the total.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnContainers.Condition.class)
public @interface OnContainers {

  /** Skips classes, and counts. */
  final class Condition implements ExecutionCondition, AfterEachCallback, AfterAllCallback {
    /** Checked once per JVM: an engine does not appear or disappear while tests run. */
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

    /** The first class registers the print of the total at the end of all tests. */
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

    /** A top-level class; nested classes count for it. */
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
