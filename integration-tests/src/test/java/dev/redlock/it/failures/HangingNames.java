package dev.redlock.it.failures;

import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * Host names, all of which are this machine. The lookup of some of them does not return until the
 * test ends that.
 */
final class HangingNames implements AutoCloseable {
  /** Netty lets a new lookup wait for one under way. */
  private static final int QUERY_TIMEOUT_MILLIS = 1_000;

  private static final int QUERY_HEADER = 12;
  private static final int TYPE_AND_CLASS = 4;
  private static final byte[] ANSWER = {
    (byte) 0xc0, QUERY_HEADER, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1
  };

  private final ConcurrentHashMap<String, CountDownLatch> hanging = new ConcurrentHashMap<>();
  private final Set<Thread> hung = ConcurrentHashMap.newKeySet();
  private final DatagramSocket server;

  HangingNames() throws IOException {
    server = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    Thread serving = new Thread(this::serve, "test-name-server");
    serving.setDaemon(true);
    serving.start();
  }

  void hang(String name) {
    hanging.putIfAbsent(name, new CountDownLatch(1));
  }

  void endHang(String name) {
    CountDownLatch latch = hanging.remove(name);
    if (latch != null) {
      latch.countDown();
    }
  }

  /** The threads that wait in a lookup. */
  Set<Thread> hung() {
    return Set.copyOf(hung);
  }

  /** Returns when the name does not hang; an interrupt does not end it, as in the C library. */
  void await(String name) {
    CountDownLatch latch = hanging.get(name);
    boolean interrupted = false;
    hung.add(Thread.currentThread());
    while (latch != null) {
      try {
        latch.await();
        latch = null;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    hung.remove(Thread.currentThread());
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Like the resolver that Lettuce uses without {@code netty-resolver-dns}: it blocks. */
  AddressResolverGroup<InetSocketAddress> blocking() {
    return new AddressResolverGroup<>() {
      @Override
      protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
        return new InetNameResolver(executor) {
          @Override
          protected void doResolve(String name, Promise<InetAddress> promise) {
            await(name);
            promise.setSuccess(InetAddress.getLoopbackAddress());
          }

          @Override
          protected void doResolveAll(String name, Promise<List<InetAddress>> promise) {
            await(name);
            promise.setSuccess(List.of(InetAddress.getLoopbackAddress()));
          }
        }.asAddressResolver();
      }
    };
  }

  /** The resolver of {@code netty-resolver-dns}, with a name server that may be silent. */
  AddressResolverGroup<InetSocketAddress> dns() {
    return new DnsAddressResolverGroup(
        new DnsNameResolverBuilder()
            .datagramChannelType(NioDatagramChannel.class)
            .queryTimeoutMillis(QUERY_TIMEOUT_MILLIS)
            .nameServerProvider(
                new SingletonDnsServerAddressStreamProvider(
                    (InetSocketAddress) server.getLocalSocketAddress())));
  }

  private void serve() {
    byte[] buffer = new byte[512];
    while (!server.isClosed()) {
      try {
        DatagramPacket query = new DatagramPacket(buffer, buffer.length);
        server.receive(query);
        byte[] reply = reply(Arrays.copyOf(buffer, query.getLength()));
        if (reply.length > 0) {
          server.send(new DatagramPacket(reply, reply.length, query.getSocketAddress()));
        }
      } catch (IOException e) {
        // Closed.
      }
    }
  }

  private byte[] reply(byte[] query) {
    StringBuilder name = new StringBuilder();
    int at = QUERY_HEADER;
    while (query[at] != 0) {
      name.append(name.isEmpty() ? "" : ".")
          .append(new String(query, at + 1, query[at], StandardCharsets.US_ASCII));
      at += query[at] + 1;
    }
    if (hanging.containsKey(name.toString())) {
      return new byte[0];
    }
    boolean version4 = query[at + 2] == 1;
    int question = at + 1 + TYPE_AND_CLASS;
    ByteBuffer reply = ByteBuffer.allocate(question + (version4 ? ANSWER.length : 0));
    reply.put(query, 0, question).putShort(2, (short) 0x8180);
    reply.putShort(6, (short) (version4 ? 1 : 0)).putShort(10, (short) 0);
    if (version4) {
      reply.put(ANSWER);
    }
    return reply.array();
  }

  @Override
  public void close() {
    List.copyOf(hanging.keySet()).forEach(this::endHang);
    server.close();
  }
}
