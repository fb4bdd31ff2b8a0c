package dev.redlock.testkit;

import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/** Implements {@link RedisTest}. Do not use it directly. */
public final class RedisNodesExtension
    implements BeforeAllCallback,
        ParameterResolver,
        AfterTestExecutionCallback,
        LifecycleMethodExecutionExceptionHandler,
        AfterEachCallback {

  private static final Namespace NAMESPACE = Namespace.create(RedisNodesExtension.class);

  /** For JUnit. */
  public RedisNodesExtension() {}

  @Override
  public void beforeAll(ExtensionContext context) {
    shared(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == RedisNodes.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return shared(context).nodes;
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    context.getExecutionException().ifPresent(failure -> tell(context, failure));
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    tell(context, failure);
    throw failure;
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    tell(context, failure);
    throw failure;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Shared shared = shared(context);
    shared.nodes.endFaults();
    try {
      if (context.getExecutionException().isEmpty()) {
        new LockKeyCheck(shared.nodes, shared.test.keyPrefix())
            .verify(shared.test.locksMayRemain());
      }
    } finally {
      shared.nodes.flush();
    }
  }

  private static void tell(ExtensionContext context, Throwable failure) {
    if (!(failure instanceof TestAbortedException)) {
      RedisNodes nodes = shared(context).nodes;
      System.err.println(
          "[redlock-testkit] %s.%s failed (%s). Nodes, from %s:\n%s"
              .formatted(
                  context.getRequiredTestClass().getSimpleName(),
                  context.getDisplayName(),
                  failure,
                  nodes.source(),
                  nodes.describe()));
    }
  }

  /** The nodes of the nearest enclosing annotated class; started on the first call. */
  private static Shared shared(ExtensionContext context) {
    ExtensionContext around = context;
    while (true) {
      Optional<RedisTest> test =
          AnnotationSupport.findAnnotation(around.getTestClass(), RedisTest.class);
      if (test.isPresent() && around.getTestMethod().isEmpty()) {
        return around
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(
                Shared.class,
                key -> Shared.start(test.get(), context.getRequiredTestClass()),
                Shared.class);
      }
      around =
          around
              .getParent()
              .orElseThrow(
                  () -> new IllegalStateException(context.getDisplayName() + " lacks @RedisTest"));
    }
  }

  /** The nodes of one annotated class. JUnit closes this after the class. */
  private record Shared(RedisTest test, RedisNodes nodes) implements AutoCloseable {

    static Shared start(RedisTest test, Class<?> testClass) {
      RedisNodes.Builder builder =
          RedisNodes.builder()
              .count(test.nodes())
              .gated(test.gated())
              .appendOnly(test.appendOnly())
              .serverArgs(test.serverArgs());
      if (test.source() != RedisSource.AUTO) {
        Optional<String> reason = test.source().whyUnavailable();
        if (reason.isPresent()) {
          System.out.println(
              "[redlock-testkit] " + testClass.getName() + " is skipped: " + reason.get());
          Assumptions.abort(reason.get());
        }
        builder.source(test.source());
      }
      return new Shared(test, builder.start());
    }

    @Override
    public void close() {
      nodes.close();
    }
  }
}
