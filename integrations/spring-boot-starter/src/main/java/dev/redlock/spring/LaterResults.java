package dev.redlock.spring;

import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.springframework.util.ClassUtils;

/**
 * Types of results whose work may be done after the method has returned. The lock of a method with
 * such a result would be free too early.
 */
final class LaterResults {
  /** Of libraries that need not be on the class path. */
  private static final Set<String> NAMES =
      Set.of(
          "io.reactivex.rxjava3.core.Completable",
          "io.reactivex.rxjava3.core.Maybe",
          "io.reactivex.rxjava3.core.Observable",
          "io.reactivex.rxjava3.core.Single",
          "io.smallrye.mutiny.Uni",
          "io.vertx.core.Future",
          "kotlin.sequences.Sequence",
          "kotlinx.coroutines.Job",
          "kotlinx.coroutines.flow.Flow",
          "org.reactivestreams.Publisher",
          "org.springframework.web.context.request.async.DeferredResult",
          "org.springframework.web.context.request.async.WebAsyncTask",
          "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
          "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
          "scala.concurrent.Future");

  private static final ClassValue<Boolean> LATER =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return isLater(type);
        }
      };

  private LaterResults() {}

  /** Whether a result of this type may be complete only later. */
  static boolean contain(Class<?> type) {
    return !type.isPrimitive() && LATER.get(type);
  }

  private static boolean isLater(Class<?> type) {
    if (Future.class.isAssignableFrom(type)
        || CompletionStage.class.isAssignableFrom(type)
        || Flow.Publisher.class.isAssignableFrom(type)
        || BaseStream.class.isAssignableFrom(type)
        || Callable.class.isAssignableFrom(type)) {
      return true;
    }
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      if (NAMES.contains(at.getName())) {
        return true;
      }
    }
    return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
        .anyMatch(one -> NAMES.contains(one.getName()));
  }
}
