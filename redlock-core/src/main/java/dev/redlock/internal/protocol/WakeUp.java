package dev.redlock.internal.protocol;

/** Why a waiter asks again. */
public enum WakeUp {
  /** A release hint or an invalidation arrived: the lock may be free. */
  HINT,
  /** The key of the holder has expired, as far as this process knows. */
  EXPIRY,
  /** The fallback poll interval passed without a hint or an expiry. */
  POLL,
  /** The pause after a collision, after an outage, or at the limit of rounds, has passed. */
  PAUSE
}
