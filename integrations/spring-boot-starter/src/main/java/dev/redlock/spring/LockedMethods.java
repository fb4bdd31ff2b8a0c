package dev.redlock.spring;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.spring.LockedMethod.Kind;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.cache.annotation.CacheConfig;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/** All methods with {@link Locked}, parsed once. What cannot be locked is rejected here. */
final class LockedMethods {
  private static final String WAIT_KEY = "redlock.locked.wait-time";
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final boolean REACTOR =
      ClassUtils.isPresent("dev.redlock.reactor.ReactorLock", LockedMethods.class.getClassLoader());

  private final Environment environment;
  private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();
  private final Map<MethodClassKey, LockedMethod> parsed = new ConcurrentHashMap<>();
  private final Map<Class<?>, Set<Method>> annotated = new ConcurrentHashMap<>();
  private @Nullable BeanFactoryResolver beans; // Written once, before the first method is parsed.

  LockedMethods(Environment environment) {
    this.environment = environment;
  }

  void setBeanFactory(BeanFactory factory) {
    beans = new BeanFactoryResolver(factory);
  }

  /** The methods of a class that have the annotation, also if they inherit it. */
  Set<Method> annotated(Class<?> type) {
    if (!AnnotationUtils.isCandidateClass(type, Locked.class)) {
      return Set.of();
    }
    return annotated.computeIfAbsent(
        type,
        t ->
            MethodIntrospector.selectMethods(
                t, (Method method) -> AnnotatedElementUtils.hasAnnotation(method, Locked.class)));
  }

  LockedMethod get(Method method, Class<?> type) {
    return parsed.computeIfAbsent(new MethodClassKey(method, type), key -> parse(method, type));
  }

  /** The methods that have been parsed. */
  Collection<LockedMethod> all() {
    return parsed.values();
  }

  private LockedMethod parse(Method given, Class<?> type) {
    Method method =
        BridgeMethodResolver.findBridgedMethod(ClassUtils.getMostSpecificMethod(given, type));
    Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
    if (locked == null) {
      locked = AnnotatedElementUtils.findMergedAnnotation(given, Locked.class);
    }
    if (locked == null) {
      throw new IllegalStateException("no @Locked on " + method);
    }
    String where = "@Locked on " + ClassUtils.getQualifiedMethodName(method, type);
    requireInterceptable(method, type, where);
    LockedExpressions expressions = new LockedExpressions(where, method, parameterNames, beans);
    requireOtherwise(locked, where);
    requireCacheKey(method, type, where);
    return new LockedMethod(
        where,
        method,
        kind(method, where),
        expressions.names(locked.names()),
        wait(locked, where),
        duration(locked.leaseTime(), "leaseTime", where),
        duration(locked.minimumHold(), "minimumHold", where),
        locked.client(),
        locked.notAcquired(),
        locked.otherwise().isEmpty() ? null : expressions.value(locked.otherwise()),
        positions(method, Lease.class),
        positions(method, FencingToken.class),
        expressions);
  }

  private static void requireInterceptable(Method method, Class<?> type, String where) {
    List<String> faults = new ArrayList<>();
    if (Modifier.isFinal(method.getModifiers())) {
      faults.add("the method is final");
    }
    if (Modifier.isStatic(method.getModifiers())) {
      faults.add("the method is static");
    }
    if (Modifier.isPrivate(method.getModifiers())) {
      faults.add("the method is private");
    }
    if (Modifier.isFinal(type.getModifiers()) && !Proxy.isProxyClass(type)) {
      faults.add("the class is final");
    }
    if (!faults.isEmpty()) {
      throw new IllegalStateException(
          where
              + " would take no lock: "
              + String.join(", ", faults)
              + ", so Spring cannot"
              + " intercept its calls");
    }
  }

  private static void requireOtherwise(Locked locked, String where) {
    boolean returns = locked.notAcquired() == Locked.NotAcquired.RETURN;
    if (returns == locked.otherwise().isEmpty()) {
      throw new IllegalStateException(
          where
              + (returns
                  ? ": notAcquired = RETURN needs otherwise, an expression"
                  : ": otherwise is used only with notAcquired = RETURN"));
    }
  }

  /** With the default key each call has a key of its own, because the lease is a parameter. */
  private static void requireCacheKey(Method method, Class<?> type, String where) {
    boolean filled =
        positions(method, Lease.class).length + positions(method, FencingToken.class).length > 0;
    CacheConfig common = AnnotatedElementUtils.findMergedAnnotation(type, CacheConfig.class);
    if (!filled || (common != null && !common.keyGenerator().isEmpty())) {
      return;
    }
    boolean keyed =
        AnnotatedElementUtils.findAllMergedAnnotations(method, Cacheable.class).stream()
                .allMatch(one -> isGiven(one.key(), one.keyGenerator()))
            && AnnotatedElementUtils.findAllMergedAnnotations(method, CachePut.class).stream()
                .allMatch(one -> isGiven(one.key(), one.keyGenerator()))
            && AnnotatedElementUtils.findAllMergedAnnotations(method, CacheEvict.class).stream()
                .allMatch(one -> one.allEntries() || isGiven(one.key(), one.keyGenerator()));
    if (!keyed) {
      throw new IllegalStateException(
          where
              + ": the lease would be a part of the cache key, so no call would find what another"
              + " one stored; give the cache annotation a key, such as key = \"#id\"");
    }
  }

  private static boolean isGiven(String key, String keyGenerator) {
    return !key.isEmpty() || !keyGenerator.isEmpty();
  }

  private static Kind kind(Method method, String where) {
    Class<?> result = method.getReturnType();
    if (result == CompletableFuture.class || result == CompletionStage.class) {
      return Kind.FUTURE;
    }
    boolean mono = result.getName().equals("reactor.core.publisher.Mono");
    boolean flux = result.getName().equals("reactor.core.publisher.Flux");
    if ((mono || flux) && !REACTOR) {
      throw new IllegalStateException(
          where + " returns " + result.getName() + ": add the dependency redlock-reactor");
    }
    if (mono || flux) {
      return mono ? Kind.MONO : Kind.FLUX;
    }
    if (LaterResults.contain(result) || isSuspending(method)) {
      throw new IllegalStateException(
          where
              + " has a result that is complete only later, and is not supported: "
              + result.getName()
              + ". Supported are CompletableFuture, CompletionStage, Mono, Flux and plain results");
    }
    return Kind.PLAIN;
  }

  private static boolean isSuspending(Method method) {
    Class<?>[] types = method.getParameterTypes();
    return types.length > 0
        && types[types.length - 1].getName().equals("kotlin.coroutines.Continuation");
  }

  /** The property {@code redlock.locked.NAME}. */
  <T> T property(String name, Class<T> type, T otherwise) {
    return Binder.get(environment).bind("redlock.locked." + name, type).orElse(otherwise);
  }

  private Duration wait(Locked locked, String where) {
    Duration own = duration(locked.waitTime(), "waitTime", where);
    if (own != null) {
      return own;
    }
    String text = environment.getProperty(WAIT_KEY);
    Duration common = duration(text == null ? "" : text, WAIT_KEY, where);
    return common == null ? WAIT : common;
  }

  private @Nullable Duration duration(String text, String what, String where) {
    if (text.isEmpty()) {
      return null;
    }
    try {
      String resolved = environment.resolveRequiredPlaceholders(text);
      if (isWithoutUnit(resolved)) {
        throw new IllegalStateException(
            "%s: %s '%s' has no unit; write %4$ss or %4$sms"
                .formatted(where, what, text, resolved.strip()));
      }
      Duration value = DurationStyle.detectAndParse(resolved);
      if (!value.isNegative()) {
        return value;
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(where + ": " + what + " '" + text + "' is no duration", e);
    }
    throw new IllegalStateException(where + ": " + what + " '" + text + "' is negative");
  }

  /** A number alone, except zero: Spring Boot would take it for milliseconds. */
  static boolean isWithoutUnit(String text) {
    return text.matches("\\s*[+-]?0*[1-9][0-9]*\\s*");
  }

  private static int[] positions(Method method, Class<?> wanted) {
    Class<?>[] types = method.getParameterTypes();
    return IntStream.range(0, types.length).filter(i -> types[i] == wanted).toArray();
  }
}
