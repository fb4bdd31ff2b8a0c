package dev.redlock.spring;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.expression.Expression;

/**
 * A method with {@link Locked}.
 *
 * @param where the annotation and the method, for messages
 * @param leaseTime null for that of the name
 * @param minimumHold null for that of the name
 * @param client the name or qualifier of the client; empty for the only or primary one
 * @param otherwise the result for a call without the lock; null unless there is one
 * @param leases the parameters that get the lease
 * @param tokens the parameters that get the token
 */
@SuppressWarnings("ArrayRecordComponent") // The records are not compared.
record LockedMethod(
    String where,
    Method method,
    Kind kind,
    List<Expression> names,
    Duration waitTime,
    @Nullable Duration leaseTime,
    @Nullable Duration minimumHold,
    String client,
    Locked.NotAcquired notAcquired,
    @Nullable Expression otherwise,
    int[] leases,
    int[] tokens,
    LockedExpressions expressions) {

  /** When a call ends. */
  enum Kind {
    PLAIN,
    FUTURE,
    MONO,
    FLUX;

    boolean isReactive() {
      return this == MONO || this == FLUX;
    }
  }

  /** The options of the lock, where the annotation has some. */
  LockOptions over(LockOptions options) {
    if (leaseTime == null && minimumHold == null) {
      return options;
    }
    LockOptions.Builder own = options.toBuilder();
    if (leaseTime != null) {
      own.leaseTime(leaseTime);
    }
    if (minimumHold != null) {
      own.minimumHold(minimumHold);
    }
    return own.build();
  }

  /** The names of the lock of a call. */
  List<String> names(@Nullable Object target, @Nullable Object[] arguments) {
    return expressions.evaluate(names, target, arguments);
  }

  /** The result of a call without the lock, if the annotation says not to throw. */
  @Nullable Object resultWithout(@Nullable Object target, @Nullable Object[] arguments) {
    if (otherwise == null) {
      return null;
    }
    Class<?> declared = method.getReturnType();
    Class<?> type = kind == Kind.PLAIN && declared != void.class ? declared : Object.class;
    return expressions.evaluate(otherwise, target, arguments, type);
  }

  /** Rejects a result that does its work after the release, as a method of type Object may have. */
  @Nullable Object complete(@Nullable Object result) {
    if (result != null && LaterResults.contain(result.getClass())) {
      throw new IllegalStateException(
          where
              + " returned "
              + result.getClass().getName()
              + ", which is complete only later, when the lock is free. Declare"
              + " CompletableFuture, CompletionStage, Mono or Flux as the result");
    }
    return result;
  }

  /** What a plain method returns for nothing. */
  @Nullable Object nothing() {
    Class<?> type = method.getReturnType();
    if (type == Optional.class) {
      return Optional.empty();
    }
    boolean hasZero = type.isPrimitive() && type != void.class;
    return hasZero ? Array.get(Array.newInstance(type, 1), 0) : null;
  }

  /** Calls the method with the lease. The invocation has not been called yet. */
  @Nullable Object proceed(MethodInvocation invocation, Lease lease) {
    @Nullable Object[] arguments = invocation.getArguments().clone();
    for (int i : leases) {
      arguments[i] = lease;
    }
    for (int i : tokens) {
      arguments[i] = lease.fencingToken();
    }
    ((ProxyMethodInvocation) invocation).setArguments(arguments);
    try {
      return invocation.proceed();
    } catch (Throwable e) {
      throw LockedMethod.<RuntimeException>undeclared(e);
    }
  }

  /** The proxy throws what the method declares. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <E extends Throwable> E undeclared(Throwable e) throws E {
    throw (E) e;
  }
}
