package dev.redlock.spring;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * The method runs while a distributed lock is held.
 *
 * <pre>{@code
 * @Locked("order-#{#id}")
 * void ship(long id, Lease lease) { … }
 * }</pre>
 *
 * <p>A parameter of type {@link Lease} or {@link FencingToken} is filled in; callers pass null. The
 * lease is released when the method returns or throws. If the method returns a {@code
 * CompletableFuture}, {@code CompletionStage}, {@code Mono} or {@code Flux}, the lease is released
 * when this result completes, fails or is cancelled. The body of such a method runs on the callback
 * executor of the client, or on the thread of the caller if the lock is granted at once. If the
 * lease ends before the method, the caller gets {@link LeaseLostException}.
 *
 * <p>Works on calls that pass through the Spring proxy. <b>A call from another method of the same
 * object does not take the lock.</b> If this would be dangerous, declare a {@code Lease} parameter:
 * without the proxy it is null. The application does not start if an annotated method is final,
 * private or static, its class is final, its type of result is not supported, or an expression
 * cannot be parsed or names a variable that is not a parameter.
 *
 * <p>The lock is not reentrant: a locked method that calls another one with the same name waits for
 * itself. It is taken outside of a transaction that begins at the same method, and inside of
 * {@code @Async}. A call in a transaction that began before fails, unless it is read-only: see
 * {@code redlock.locked.in-transaction}.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Locked {

  /** See {@link #names}. */
  @AliasFor("names")
  String[] value() default {};

  /**
   * The names of the lock, all or none. A text with expressions of the Spring Expression Language
   * in <code>#{…}</code>, in which each parameter is a variable. An expression that is null, or
   * gives an empty name, is an error. A name that consists of one expression may give a collection
   * of names.
   */
  @AliasFor("value")
  String[] names() default {};

  /**
   * How long to wait at most, such as {@code 500ms} or {@code ${shop.wait}}; {@code 0s} tries once.
   * All times need a unit. Default: the property {@code redlock.locked.wait-time}, which is 10 s.
   */
  String waitTime() default "";

  /** The lease time, such as {@code 5s}. Default: that of the name. */
  String leaseTime() default "";

  /**
   * The shortest time for which the lock stays taken from the grant on, such as {@code 30s}, also
   * if the method ends earlier; at most the lease time. With {@link NotAcquired#SKIP} a job that
   * each process of a fleet starts at the same time then runs once. Default: that of the name. See
   * {@link LockOptions.Builder#minimumHold}.
   */
  String minimumHold() default "";

  /**
   * The client that takes the lock: the name or qualifier of a {@link Redlock} bean. Default: the
   * only one, or the primary one.
   */
  String client() default "";

  /**
   * What a call does if others keep the lock until the wait time has passed ({@link
   * LockTimeoutException#isHeld}). Other failures always throw. An outage does not mean that the
   * lock is held: too few nodes vote ({@link QuorumUnavailableException}), or the wait time is over
   * before they reply ({@link LockTimeoutException}).
   */
  NotAcquired notAcquired() default NotAcquired.THROW;

  /** The result for {@link NotAcquired#RETURN}: an expression, without <code>#{…}</code>. */
  String otherwise() default "";

  /** What a call does if others keep the lock. */
  enum NotAcquired {
    /** Throws {@link LockTimeoutException}. */
    THROW,
    /** Returns without the call: null, zero, false, an empty {@code Optional} or publisher. */
    SKIP,
    /** Returns the value of {@link Locked#otherwise()}. */
    RETURN
  }
}
