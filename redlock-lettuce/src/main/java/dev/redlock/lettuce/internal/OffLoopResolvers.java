package dev.redlock.lettuce.internal;

import io.netty.resolver.AbstractAddressResolver;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import io.netty.resolver.DefaultNameResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;

/**
 * Asks the resolvers of another group on threads of their own. Netty asks a resolver on the event
 * loop of the channel that wants to connect. The resolver of the JDK, which Lettuce uses if {@code
 * netty-resolver-dns} is missing, blocks it there for as long as the name servers are silent.
 */
final class OffLoopResolvers extends AddressResolverGroup<SocketAddress> {
  private final AddressResolverGroup<?> group;
  private final BlockingCalls calls;

  OffLoopResolvers(AddressResolverGroup<?> group, BlockingCalls calls) {
    this.group = group;
    this.calls = calls;
  }

  /** The superclass would keep each resolver until its loop ends, and the user owns the loops. */
  @Override
  public AddressResolver<SocketAddress> getResolver(EventExecutor loop) {
    return newResolver(loop);
  }

  @Override
  protected AddressResolver<SocketAddress> newResolver(EventExecutor loop) {
    return new OffLoop(loop);
  }

  private final class OffLoop extends AbstractAddressResolver<SocketAddress> {
    OffLoop(EventExecutor loop) {
      super(loop, SocketAddress.class);
    }

    /** Only the other resolver knows, and asking it may block. */
    @Override
    protected boolean doIsResolved(SocketAddress address) {
      return false;
    }

    @Override
    protected void doResolve(SocketAddress address, Promise<SocketAddress> promise) {
      ask(address, address, (resolver, asked) -> resolver.resolve(asked), promise);
    }

    @Override
    protected void doResolveAll(SocketAddress address, Promise<List<SocketAddress>> promise) {
      ask(address, List.of(address), (resolver, asked) -> resolver.resolveAll(asked), promise);
    }

    private <T> void ask(
        SocketAddress address,
        T unchanged,
        BiFunction<AddressResolver<SocketAddress>, SocketAddress, Future<T>> how,
        Promise<T> promise) {
      String host =
          address instanceof InetSocketAddress inet ? inet.getHostString() : address.toString();
      calls
          .<T>call(
              "the lookup of " + host,
              () -> {
                AddressResolver<SocketAddress> resolver = resolver(executor());
                return resolver.isSupported(address) && !resolver.isResolved(address)
                    ? stage(how.apply(resolver, address))
                    : CompletableFuture.completedStage(unchanged);
              })
          .whenComplete(
              (found, failure) -> {
                if (executor().isShuttingDown()) {
                  return; // It could not run those who wait for the promise.
                } else if (failure == null) {
                  promise.trySuccess(found);
                } else {
                  promise.tryFailure(failure);
                }
              });
    }
  }

  /** That of the JDK without a loop, which may have ended when a lookup that hangs returns. */
  @SuppressWarnings("unchecked") // What it resolves to is an address of a socket.
  private AddressResolver<SocketAddress> resolver(EventExecutor loop) {
    AddressResolver<?> resolver =
        group instanceof DefaultAddressResolverGroup
            ? new DefaultNameResolver(ImmediateEventExecutor.INSTANCE).asAddressResolver()
            : group.getResolver(loop);
    return (AddressResolver<SocketAddress>) resolver;
  }

  private static <T> CompletionStage<T> stage(Future<T> future) {
    CompletableFuture<T> stage = new CompletableFuture<>();
    future.addListener(
        done -> {
          if (future.isSuccess()) {
            stage.complete(future.getNow());
          } else {
            stage.completeExceptionally(future.cause());
          }
        });
    return stage;
  }
}
