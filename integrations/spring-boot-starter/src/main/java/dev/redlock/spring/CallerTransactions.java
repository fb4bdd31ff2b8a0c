package dev.redlock.spring;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Finds calls whose transaction began before the lock. The lock would be released before the
 * commit, and the next holder would not see what this call wrote: its update is lost. If the
 * release waited for the commit, this call could still have read old data before it had the lock.
 *
 * <p>A read-only transaction writes nothing that could be lost. Loaded with spring-tx only.
 */
final class CallerTransactions {
  private static final Logger log = LoggerFactory.getLogger(Locked.class);

  private final boolean fail;

  /** As Spring's own: also for methods that are not public. */
  private final TransactionAttributeSource attributes =
      new AnnotationTransactionAttributeSource(false);

  private final Set<String> warned = ConcurrentHashMap.newKeySet();

  CallerTransactions(boolean fail) {
    this.fail = fail;
  }

  /** Rejects the call, or warns once per method. On the thread of the caller. */
  void check(LockedMethod method, Class<?> type) {
    if (TransactionSynchronizationManager.isActualTransactionActive()) {
      check(
          method,
          type,
          TransactionSynchronizationManager.isCurrentTransactionReadOnly(),
          TransactionSynchronizationManager.getCurrentTransactionName());
    }
  }

  void check(LockedMethod method, Class<?> type, boolean readOnly, @Nullable String name) {
    if (readOnly || beginsItsOwn(method, type, name)) {
      return;
    }
    String what =
        method.where()
            + " was called in a transaction that began before the lock: the lock is free before the"
            + " commit, and updates are lost. Take the lock before the transaction, or give this"
            + " method @Transactional(propagation = REQUIRES_NEW)";
    if (fail) {
      throw new IllegalStateException(
          what + ", or set redlock.locked.in-transaction to warn or allow");
    }
    if (warned.add(method.where())) {
      log.warn("{}. This warning comes once for each method", what);
    }
  }

  /** Whether the method runs outside of this transaction, in one of its own or in none. */
  private boolean beginsItsOwn(LockedMethod method, Class<?> type, @Nullable String name) {
    TransactionAttribute own = attributes.getTransactionAttribute(method.method(), type);
    if (own == null || ClassUtils.getQualifiedMethodName(method.method(), type).equals(name)) {
      return false; // With its own name, the transaction of this method is outside of the lock.
    }
    int propagation = own.getPropagationBehavior();
    return propagation == TransactionDefinition.PROPAGATION_REQUIRES_NEW
        || propagation == TransactionDefinition.PROPAGATION_NOT_SUPPORTED
        || propagation == TransactionDefinition.PROPAGATION_NEVER;
  }
}
