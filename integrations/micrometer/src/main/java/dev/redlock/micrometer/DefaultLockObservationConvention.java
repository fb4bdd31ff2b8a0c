package dev.redlock.micrometer;

import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockInterruptedException;
import io.micrometer.common.KeyValues;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The default names and keys. An observation is {@code redlock.lock}. Low cardinality: {@code
 * redlock.operation}, {@code redlock.outcome}: the {@link AcquireVerdict} in lower case, {@code
 * lost} or {@code error}; {@code held} for an empty result. High cardinality: {@code
 * redlock.names}, and {@code redlock.token} if a lease was granted.
 */
public class DefaultLockObservationConvention implements LockObservationConvention {

  /** A convention with these names and keys. */
  public DefaultLockObservationConvention() {}

  @Override
  public String getName() {
    return "redlock.lock";
  }

  @Override
  public String getContextualName(LockContext context) {
    return lower(context.operation()).replace('_', ' ') + " " + shown(context);
  }

  private static String shown(LockContext context) {
    int more = context.names().size() - 1;
    String first = context.names().get(0);
    return more == 0 ? first : first + " and " + more + " more";
  }

  @Override
  public KeyValues getLowCardinalityKeyValues(LockContext context) {
    return KeyValues.of(
        "redlock.operation", lower(context.operation()), "redlock.outcome", outcome(context));
  }

  @Override
  public KeyValues getHighCardinalityKeyValues(LockContext context) {
    KeyValues keys = KeyValues.of("redlock.names", String.join(",", context.names()));
    Lease lease = context.lease();
    return lease == null
        ? keys
        : keys.and("redlock.token", Long.toString(lease.fencingToken().value()));
  }

  private static String outcome(LockContext context) {
    Throwable error = context.getError();
    if (error != null) {
      return failure(error);
    } else if (context.lease() != null) {
      return lower(AcquireVerdict.ACQUIRED);
    }
    return context.isRefused() ? lower(AcquireVerdict.HELD) : "none";
  }

  private static String failure(@Nullable Throwable error) {
    if (error instanceof CompletionException) {
      return failure(error.getCause());
    } else if (error instanceof LockTimeoutException timeout) {
      return lower(timeout.report().verdict());
    } else if (error instanceof QuorumUnavailableException unavailable) {
      return lower(unavailable.report().verdict());
    } else if (error instanceof LockQueueFullException full) {
      return lower(full.report().verdict());
    } else if (error instanceof LeaseLostException) {
      return "lost";
    } else if (error instanceof RedlockClosedException) {
      return lower(AcquireVerdict.CLOSED);
    } else if (error instanceof CancellationException
        || error instanceof RedlockInterruptedException) {
      return lower(AcquireVerdict.CANCELLED);
    }
    return "error";
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
