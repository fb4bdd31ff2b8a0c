package dev.redlock.kotlin

import dev.redlock.FencingToken
import dev.redlock.Lease
import dev.redlock.LeaseEnd
import dev.redlock.LeaseLostException
import dev.redlock.LockOptions
import dev.redlock.LockTimeoutException
import dev.redlock.Redlock
import dev.redlock.RedlockListener
import dev.redlock.spi.RestartGuard
import dev.redlock.harness.memory.InMemoryLockNode
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

private const val STORM = 10_000
private val WAIT: Duration = 20.seconds

@Timeout(120)
class SuspendingLockTest {
  private val nodes = listOf("a", "b", "c").map { InMemoryLockNode.create(it) }
  private val granted: MutableSet<FencingToken> = ConcurrentHashMap.newKeySet()
  private val ended: MutableSet<FencingToken> = ConcurrentHashMap.newKeySet()
  private val redlock = client()
  private val other = client()
  private val lock = redlock.lock("name")

  private fun client(): Redlock {
    val recording =
        object : RedlockListener {
          override fun onAcquired(lease: Lease, waited: java.time.Duration) {
            granted.add(lease.fencingToken())
          }

          override fun onEnded(
            lease: Lease,
            end: LeaseEnd,
            held: java.time.Duration,
            validityLeft: java.time.Duration,
          ) {
            ended.add(lease.fencingToken())
          }
        }
    val builder = Redlock.builder().restartGuard(RestartGuard.OFF).listener(recording)
    nodes.forEach { builder.nodes(it.another()) }
    return builder.build().also { assertThat(it.awaitReady(WAIT.toJavaDuration())).isTrue() }
  }

  @AfterEach
  fun disconnect() {
    redlock.close()
    other.close()
  }

  private fun awaitFree() {
    await().atMost(30, TimeUnit.SECONDS).until { nodes.all { it.holder("name") == null } }
  }

  @Test
  fun acquire_ofAFreeLock_givesALease() = runBlocking<Unit> {
    val lease = lock.acquire(WAIT)
    assertThat(lease.isValid).isTrue()
    assertThat(other.lock("name").tryAcquireOrNull()).isNull()
    lease.close()
    other.lock("name").tryAcquireOrNull()!!.close()
    awaitFree()
  }

  @Test
  fun acquire_ofAHeldLock_throwsAfterTheWait() {
    other.lock("name").acquire(WAIT.toJavaDuration()).use {
      assertThatThrownBy { runBlocking { lock.acquire(20.milliseconds) } }
          .isInstanceOf(LockTimeoutException::class.java)
    }
  }

  @Test
  fun acquire_withoutEnd_waitsAndIsCancelled() = runBlocking<Unit> {
    val held = other.lock("name").acquire(WAIT)
    val waiting = launch(start = CoroutineStart.UNDISPATCHED) { lock.acquire(Duration.INFINITE) }
    assertThat(waiting.isActive).isTrue()
    waiting.cancelAndJoin()
    held.close()
    lock.acquire(Duration.INFINITE).close()
  }

  @Test
  fun withLock_returnsTheResultAndReleases() = runBlocking<Unit> {
    assertThat(lock.withLock(WAIT) { it.isValid }).isTrue()
    awaitFree()
  }

  @Test
  fun withLock_whoseBodyFails_throwsThatAndReleases() {
    assertThatThrownBy { runBlocking { lock.withLock(WAIT) { error("body") } } }
        .isInstanceOf(IllegalStateException::class.java)
        .hasMessage("body")
    awaitFree()
  }

  @Test
  fun withLock_whoseLeaseIsLost_throwsTheLoss() {
    assertThatThrownBy { runBlocking { lock.withLock(WAIT) { breakLock(it) } } }
        .isInstanceOf(LeaseLostException::class.java)
  }

  @Test
  fun withLock_whoseBodyReleases_returnsItsResult() = runBlocking<Unit> {
    val result =
        lock.withLock(WAIT) {
          it.close()
          7
        }
    assertThat(result).isEqualTo(7)
  }

  @Test
  fun withLock_thatInterruptsOnLoss_cancelsABodyThatNeverEnds() {
    val interrupting =
        redlock.lock("name", LockOptions.builder().interruptOnLoss(true).build())
    assertThatThrownBy {
          runBlocking {
            interrupting.withLock<Unit>(WAIT) {
              breakLock(it)
              awaitCancellation()
            }
          }
        }
        .isInstanceOf(LeaseLostException::class.java)
  }

  private fun breakLock(lease: Lease) {
    other.operations().breakLock("name").toCompletableFuture().join()
    lease.extendAsync().toCompletableFuture().handle { _, _ -> true }.join()
  }

  @Test
  fun withLock_thatIsCancelled_releasesBeforeItEnds() = runBlocking<Unit> {
    val inside = CompletableDeferred<Unit>()
    val job =
        launch(Dispatchers.Default) {
          lock.withLock<Unit>(WAIT) {
            inside.complete(Unit)
            awaitCancellation()
          }
        }
    inside.await()
    job.cancel()
    job.join()
    awaitFree()
  }

  @Test
  fun withLock_cancelledTenThousandTimesAroundTheGrant_leavesNoLeaseAndNoWaiter() = storm(STORM) {
    lock.withLock<Unit>(WAIT) { awaitCancellation() }
  }

  @Test
  fun acquire_cancelledTenThousandTimesAroundTheGrant_leavesNoLeaseAndNoWaiter() = storm(STORM) {
    lock.acquire(WAIT).releaseAsync()
  }

  @Test
  fun tryAcquireOrNull_cancelledManyTimesAroundTheGrant_leavesNoLease() = storm(2_000) {
    lock.tryAcquireOrNull()?.releaseAsync()
  }

  /** Cancels at random instants; what a coroutine got before it saw that, it released. */
  private fun storm(times: Int, attempt: suspend () -> Unit) {
    val seed = System.nanoTime()
    runBlocking {
      (0 until 4)
          .map { worker -> launch(Dispatchers.Default) { cancelling(times / 4, Random(seed + worker), attempt) } }
          .joinAll()
    }
    awaitFree()
    await().atMost(30, TimeUnit.SECONDS).untilAsserted {
      assertThat(ended).`as`("seed %d", seed).containsAll(granted)
    }
    assertThat(granted).`as`("grants of the storm, seed %d", seed).isNotEmpty()
    assertNoWaiter(seed)
  }

  private suspend fun cancelling(times: Int, random: Random, attempt: suspend () -> Unit) {
    // The attempts run on other threads than those that cancel them.
    val attempts = CoroutineScope(Dispatchers.IO)
    repeat(times) {
      val until = System.nanoTime() + random.nextLong(400_000)
      val job = attempts.launch(start = CoroutineStart.DEFAULT) { attempt() }
      while (System.nanoTime() < until) {
        Thread.onSpinWait()
      }
      job.cancel()
      job.join()
    }
  }

  /** One waiter fits into a queue of one, so no other waiter is left there. */
  private fun assertNoWaiter(seed: Long) {
    val one = redlock.lock("name", LockOptions.builder().queueBound(1).build())
    val held = other.lock("name").acquire(WAIT.toJavaDuration())
    val waiting = one.acquireAsync(WAIT.toJavaDuration())
    held.close()
    val next = waiting.orTimeout(30, TimeUnit.SECONDS).join()
    assertThat(next.isValid).`as`("seed %d", seed).isTrue()
    next.close()
  }
}
