package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The one event loop of these tests stays free, whatever a resolver does. */
@Timeout(60)
class OffLoopResolversTest {
  private static final InetSocketAddress HUNG = InetSocketAddress.createUnresolved("hung", 1);
  private static final InetSocketAddress OTHER = InetSocketAddress.createUnresolved("other", 2);

  private final EventExecutor loop = new DefaultEventExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingCalls calls = new BlockingCalls(new SharedResources(null).blocking());

  @AfterEach
  void end() throws Exception {
    end.countDown();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).get();
  }

  /** Asks as Netty does, on the event loop. */
  private <T> Future<T> onLoop(AddressResolverGroup<?> group, Asked<T> asked) throws Exception {
    AddressResolver<SocketAddress> resolver = new OffLoopResolvers(group, calls).getResolver(loop);
    return loop.submit(() -> asked.of(resolver)).get();
  }

  private interface Asked<T> {
    Future<T> of(AddressResolver<SocketAddress> resolver);
  }

  private AddressResolverGroup<InetSocketAddress> hanging() {
    return new AddressResolverGroup<>() {
      @Override
      protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
        return new InetNameResolver(executor) {
          @Override
          protected void doResolve(String host, Promise<InetAddress> promise) throws Exception {
            if (host.equals("hung")) {
              end.await();
            }
            promise.setSuccess(InetAddress.getLoopbackAddress());
          }

          @Override
          protected void doResolveAll(String host, Promise<List<InetAddress>> promise) {
            promise.setSuccess(List.of(InetAddress.getLoopbackAddress()));
          }
        }.asAddressResolver();
      }
    };
  }

  @Test
  void lookupThatHangs_delaysNoOtherLookup_andCountsWhenItReturns() throws Exception {
    AddressResolverGroup<?> group = hanging();
    Future<SocketAddress> hung = onLoop(group, resolver -> resolver.resolve(HUNG));
    SocketAddress other = onLoop(group, resolver -> resolver.resolve(OTHER)).get();
    assertThat(other).isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 2));
    assertThat(hung.isDone()).isFalse();
    end.countDown();
    assertThat(hung.get()).isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
  }

  @Test
  void allAddresses_areAskedForInTheSameWay() throws Exception {
    assertThat(onLoop(hanging(), resolver -> resolver.resolveAll(OTHER)).get())
        .containsExactly(new InetSocketAddress(InetAddress.getLoopbackAddress(), 2));
  }

  @Test
  void resolverOfTheJdk_findsAddresses_andSaysWhyNot() throws Exception {
    InetSocketAddress literal = InetSocketAddress.createUnresolved("127.0.0.1", 7);
    AddressResolverGroup<?> jdk = DefaultAddressResolverGroup.INSTANCE;
    assertThat(onLoop(jdk, resolver -> resolver.resolve(literal)).get())
        .isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7));
    InetSocketAddress wrong = InetSocketAddress.createUnresolved("no such host", 7);
    assertThatThrownBy(() -> onLoop(jdk, resolver -> resolver.resolve(wrong)).get())
        .hasCauseInstanceOf(UnknownHostException.class);
  }

  @Test
  void addressThatTheOtherGroupLeaves_isLeft() throws Exception {
    assertThat(onLoop(NoopAddressResolverGroup.INSTANCE, resolver -> resolver.resolve(OTHER)).get())
        .isEqualTo(OTHER);
  }

  @Test
  void close_failsTheLookupsUnderWay() throws Exception {
    Future<SocketAddress> hung = onLoop(hanging(), resolver -> resolver.resolve(HUNG));
    calls.close();
    assertThatThrownBy(hung::get).hasMessageContaining("the client is closed");
  }
}
