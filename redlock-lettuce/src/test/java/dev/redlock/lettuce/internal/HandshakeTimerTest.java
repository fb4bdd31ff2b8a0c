package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.redlock.Redlock;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.LockNode;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

@org.junit.jupiter.api.Timeout(60)
class HandshakeTimerTest {
  @Test
  void close_whileAMasterRefusesConnections_logsNoErrorOfNetty() throws Exception {
    ListAppender<ILoggingEvent> errors = new ListAppender<>();
    errors.start();
    Logger netty =
        (Logger)
            LoggerFactory.getLogger("io.netty.util.concurrent.DefaultPromise.rejectedExecution");
    netty.addAppender(errors);
    ClientResources resources = ClientResources.create();
    try {
      Redlock redlock =
          Redlock.builder()
              .nodes(
                  LettuceNodes.standalone(
                          List.of("redis://127.0.0.1:" + closedPort()),
                          LettuceOptions.builder().clientResources(resources).build())
                      .toArray(LockNode[]::new))
              .build();
      await().until(() -> redlock.operations().nodes().get(0).cause().contains("refused"));

      redlock.close();

      HashedWheelTimer timer = (HashedWheelTimer) resources.timer();
      await().until(() -> timer.pendingTimeouts() == 0);
      for (EventExecutor executor : resources.eventExecutorGroup()) {
        Future<?> done = executor.submit(() -> {}); // Behind what the timers have submitted.
        done.sync();
      }
      assertThat(errors.list).isEmpty();
    } finally {
      netty.detachAppender(errors);
      resources.shutdown(0, 1, TimeUnit.SECONDS).get();
    }
  }

  @Test
  void task_beforeAndAfterTheLoopsEnd_runsOnlyBefore() throws Exception {
    HashedWheelTimer timer = new HashedWheelTimer();
    EventExecutorGroup loops = new DefaultEventExecutorGroup(1);
    HandshakeTimer handshakes = new HandshakeTimer(timer, () -> loops);
    CompletableFuture<Timeout> ran = new CompletableFuture<>();
    Timeout before = handshakes.newTimeout(ran::complete, 1, TimeUnit.MILLISECONDS);
    assertThat(ran.get()).isSameAs(before);

    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).get();
    Timeout skipped = handshakes.newTimeout(ran::obtrudeValue, 1, TimeUnit.MILLISECONDS);
    await().until(() -> skipped.isExpired() && timer.pendingTimeouts() == 0);

    assertThat(handshakes.stop()).isEmpty();
    assertThat(ran.get()).isSameAs(before);
  }

  /** A port on which no server listens. */
  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
