package dev.redlock.kotlin

import dev.redlock.FencingToken
import dev.redlock.Redlock
import dev.redlock.spi.RestartGuard
import dev.redlock.harness.memory.InMemoryLockNode
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/**
 * The Kotlin of the documents, compiled and run. `BlocksTest` of the module site-builder requires that each Kotlin
 * block of the documents stands here word for word, between two lines with `document`.
 */
@Timeout(60)
class DocumentsTest {
  private val redlock: Redlock =
    Redlock.builder().restartGuard(RestartGuard.OFF).also { builder ->
      listOf("a", "b", "c").forEach { builder.nodes(InMemoryLockNode.create(it)) }
    }.build()

  private val paid = mutableListOf<FencingToken>()

  private fun pay(token: FencingToken): FencingToken = token.also { paid += it }

  @Test
  fun springPage_withLock_runsTheBodyWithTheTokenOfItsLease() = runBlocking<Unit> {
    redlock.use {
      assertThat(redlock.awaitReady(20.seconds.toJavaDuration())).isTrue()
      // document
      val receipt = redlock.lock("order-7").withLock(5.seconds) { lease -> pay(lease.fencingToken()) }
      // document
      assertThat(paid).containsExactly(receipt)
    }
  }
}
