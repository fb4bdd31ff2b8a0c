package dev.redlock.kotlin

import dev.redlock.DistributedLock
import dev.redlock.Lease
import dev.redlock.LeaseEnd
import dev.redlock.LeaseLostException
import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.isActive
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/**
 * Waits for the lock without blocking a thread. Throws what [DistributedLock.acquireAsync] fails
 * with; this caller then holds nothing.
 *
 * If the coroutine is cancelled, the attempt is abandoned. A lease that is granted at the same
 * moment is released, also if the coroutine was to be resumed with it and has not run yet.
 *
 * @param wait how long to wait at most; zero tries once
 */
public suspend fun DistributedLock.acquire(wait: Duration): Lease =
    await(acquireAsync(wait.toJavaDuration())) { it.releaseAsync() }

/**
 * Tries once, without blocking a thread; null if the lock is held. Is cancelled as [acquire] is.
 * The member [DistributedLock.tryAcquire] blocks, and a member hides an extension of its name.
 */
public suspend fun DistributedLock.tryAcquireOrNull(): Lease? =
    await(tryAcquireAsync()) { lease: Optional<Lease> -> lease.ifPresent { it.releaseAsync() } }
        .orElse(null)

/**
 * Waits for the lock, runs the body, and releases the lease: when the body ends, fails or is
 * cancelled. A failed release replaces nothing.
 *
 * Throws [LeaseLostException] if the lease ended before the body did, with the failure of the body
 * as suppressed. With `interruptOnLoss` the body is cancelled when the lease ends; by default it
 * continues.
 *
 * @param wait how long to wait at most; zero tries once
 */
public suspend fun <T> DistributedLock.withLock(wait: Duration, body: suspend (Lease) -> T): T {
  val lease = acquire(wait)
  val result: T
  try {
    result = if (options().interruptOnLoss()) cancelledOnLoss(lease, body) else body(lease)
  } catch (failure: Throwable) {
    val loss = finish(lease)
    if (loss == null || !currentCoroutineContext().isActive) {
      throw failure // A cancellation of the caller takes precedence over the loss.
    }
    loss.addSuppressed(failure)
    throw loss
  }
  finish(lease)?.let { throw it }
  return result
}

private suspend fun <T> cancelledOnLoss(lease: Lease, body: suspend (Lease) -> T): T =
    coroutineScope {
      lease.whenEnded().thenAccept { end: LeaseEnd ->
        if (!end.byHolder()) {
          cancel(CancellationException("the lease ended: $end"))
        }
      }
      body(lease)
    }

/** Releases the lease; returns its loss if it ended before without its holder. */
private suspend fun finish(lease: Lease): LeaseLostException? =
    withContext(NonCancellable) {
      // Read before the release, from the clock: a lease that was lost must not look released.
      if (lease.isValid) {
        settled(lease.releaseAsync())
        return@withContext null
      }
      val end = await(lease.whenEnded().toCompletableFuture()) {}
      if (end.byHolder()) null else LeaseLostException(lease.names(), lease.fencingToken(), end)
    }

/** In the background the client repeats a release that no quorum has confirmed. */
private suspend fun settled(stage: CompletionStage<Void>) {
  await(stage.toCompletableFuture().handle { _, _ -> true }) {}
}

/**
 * Suspends until the future is complete. `CompletableFuture.await` of kotlinx loses a value that
 * arrives when the coroutine has been resumed, is cancelled, and has not run yet; here it goes to
 * [discard].
 */
private suspend fun <T : Any> await(future: CompletableFuture<T>, discard: (T) -> Unit): T =
    suspendCancellableCoroutine { continuation ->
      continuation.invokeOnCancellation { future.cancel(false) }
      future.whenComplete { value: T?, failure: Throwable? ->
        if (value != null) {
          continuation.resume(value) { _, lost, _ -> discard(lost) }
        } else {
          continuation.resumeWithException(cause(failure))
        }
      }
    }

private fun cause(failure: Throwable?): Throwable {
  val cause = if (failure is CompletionException) failure.cause else failure
  return cause ?: IllegalStateException("the future is complete without a value", failure)
}
