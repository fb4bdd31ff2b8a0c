package dev.redlock.spring;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;

/** Takes the lock around a call. */
final class LockedInterceptor implements MethodInterceptor {
  private final LockedMethods methods;
  private final ObjectProvider<Redlock> redlock;
  private final ObjectProvider<LockOptionsResolver> options;
  private final @Nullable CallerTransactions transactions;
  private final Map<String, Redlock> named = new ConcurrentHashMap<>();
  private @Nullable BeanFactory beans; // Written once, before the first call.

  LockedInterceptor(
      LockedMethods methods,
      ObjectProvider<Redlock> redlock,
      ObjectProvider<LockOptionsResolver> options,
      @Nullable CallerTransactions transactions) {
    this.methods = methods;
    this.redlock = redlock;
    this.options = options;
    this.transactions = transactions;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) {
    Object target = invocation.getThis();
    Class<?> type =
        target == null
            ? invocation.getMethod().getDeclaringClass()
            : AopUtils.getTargetClass(target);
    LockedMethod method = methods.get(invocation.getMethod(), type);
    if (transactions != null && !method.kind().isReactive()) {
      transactions.check(method, type); // A future too: it may be granted on this thread.
    }
    DistributedLock lock = lock(method, method.names(target, invocation.getArguments()));
    ProxyMethodInvocation call = (ProxyMethodInvocation) invocation;
    return switch (method.kind()) {
      case PLAIN -> plain(method, lock, call);
      case FUTURE -> future(method, lock, call);
      case MONO, FLUX -> ReactiveCalls.of(method, lock, call, transactions, type);
    };
  }

  void setBeanFactory(BeanFactory factory) {
    beans = factory;
  }

  /** Rejects a method that has no client, or options that the client rejects. Sends nothing. */
  void requireLockable(LockedMethod method) {
    Redlock client = client(method);
    try {
      client.lock("name", method.over(client.defaultOptions()));
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(method.where() + ": " + e.getMessage(), e);
    }
  }

  private Redlock client(LockedMethod method) {
    try {
      return method.client().isEmpty()
          ? redlock.getObject()
          : named.computeIfAbsent(method.client(), this::named);
    } catch (NoUniqueBeanDefinitionException e) {
      throw new IllegalStateException(
          method.where()
              + ": there are several clients, "
              + e.getBeanNamesFound()
              + ". Name one of them, @Locked(client = \"…\"), or make one @Primary",
          e);
    } catch (NoSuchBeanDefinitionException e) {
      throw new IllegalStateException(
          method.where()
              + " would take no lock: there is no bean of "
              + Redlock.class.getName()
              + (method.client().isEmpty()
                  ? ". Set redlock.enabled to true, or define one"
                  : " with the name or qualifier '" + method.client() + "'"),
          e);
    }
  }

  private Redlock named(String client) {
    return BeanFactoryAnnotationUtils.qualifiedBeanOfType(
        requireNonNull(beans, "bean factory"), Redlock.class, client);
  }

  private DistributedLock lock(LockedMethod method, List<String> names) {
    Redlock client = client(method);
    return client.lock(names, method.over(options(method, client, names)));
  }

  /** The patterns of {@code redlock.locks} are those of the client that needs no name. */
  private LockOptions options(LockedMethod method, Redlock client, List<String> names) {
    LockOptionsResolver resolver = options.getIfUnique();
    boolean usual = method.client().isEmpty() || client == redlock.getIfUnique();
    return resolver != null && usual ? resolver.options(names) : client.defaultOptions();
  }

  private static @Nullable Object plain(
      LockedMethod method, DistributedLock lock, ProxyMethodInvocation call) {
    // A timeout of another lock, inside of the method, is the failure of the method.
    boolean[] entered = new boolean[1];
    Object[] result = new Object[1];
    try {
      lock.withLock(
          method.waitTime(),
          lease -> {
            entered[0] = true;
            result[0] = method.complete(method.proceed(call, lease));
            return true;
          });
      return result[0];
    } catch (LockTimeoutException e) {
      if (entered[0] || !e.isHeld()) {
        throw e;
      }
      return switch (method.notAcquired()) {
        case THROW -> throw e;
        case SKIP -> method.nothing();
        case RETURN -> method.resultWithout(call.getThis(), call.getArguments());
      };
    }
  }

  private static CompletableFuture<Object> future(
      LockedMethod method, DistributedLock lock, ProxyMethodInvocation call) {
    return new FutureCall(method, call).start(lock.acquireAsync(method.waitTime()));
  }

  /** The result of a call without the lock, as a future. */
  @SuppressWarnings("unchecked")
  static CompletionStage<Object> futureWithout(LockedMethod method, ProxyMethodInvocation call) {
    Object value = method.resultWithout(call.getThis(), call.getArguments());
    return value instanceof CompletionStage<?> stage
        ? (CompletionStage<Object>) stage
        : CompletableFuture.completedFuture(value);
  }
}
