package dev.redlock.cli.run;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.scripts.Script;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Prepares on a second thread what {@code run} needs next. The start is a chain of classes that are
 * used for the first time. A second processor shortens it by 20 ms; {@code InstalledIT} measures
 * it.
 *
 * <p>Two threads that initialise classes which need each other wait for each other for ever. So
 * this thread initialises only the logging, for which the main thread waits; the classes that read
 * an address, which the main thread uses later and in the same order; one script; classes of the
 * JDK; and two classes of Lettuce, which no class that they need needs in turn. It loads the other
 * classes of Netty and Lettuce without initialising them.
 */
final class Preload extends Thread {
  /** Loaded, with their supertypes: what a connection needs, in the order of its start. */
  static final List<String> CONNECTION =
      List.of(
          "io.lettuce.core.RedisClient",
          "io.lettuce.core.StatefulRedisConnectionImpl",
          "io.lettuce.core.RedisHandshake",
          "io.lettuce.core.protocol.CommandExpiryWriter",
          "io.lettuce.core.protocol.CommandHandler",
          "io.lettuce.core.protocol.DefaultEndpoint",
          "io.netty.bootstrap.Bootstrap",
          "io.netty.channel.nio.NioIoHandler",
          "io.netty.channel.socket.nio.NioSocketChannel");

  /**
   * Netty looks for annotations of the class and its methods. The JDK makes a class for each
   * annotation that it reads.
   */
  static final List<String> ANNOTATED =
      List.of("io.netty.channel.ChannelInitializer", "io.netty.channel.ChannelHandlerAdapter");

  /** Initialised: no class that these need needs them in turn. */
  static final List<String> INITIALISED =
      List.of(
          "io.lettuce.core.ClientOptions",
          "io.lettuce.core.protocol.RedisStateMachine",
          "java.lang.ProcessImpl");

  /** Loaded: what requests and a lock need. */
  static final List<String> LOCK =
      List.of(
          "io.lettuce.core.protocol.AsyncCommand",
          "io.lettuce.core.protocol.CommandArgs",
          "io.lettuce.core.protocol.CommandEncoder",
          "io.lettuce.core.output.ArrayOutput",
          "io.lettuce.core.output.GenericMapOutput",
          "dev.redlock.lettuce.internal.NodeSession",
          "dev.redlock.lettuce.internal.Prober",
          "dev.redlock.lettuce.internal.ScriptCall",
          "dev.redlock.internal.LockActor",
          "dev.redlock.internal.protocol.LockMachine",
          "dev.redlock.internal.protocol.Acquirer",
          "dev.redlock.internal.protocol.HeldLease",
          "dev.redlock.internal.protocol.LeaseExtender");

  private final CountDownLatch logs = new CountDownLatch(1);

  private Preload() {
    super("redlock-preload");
    setDaemon(true);
  }

  /** Begins. The process may end before the thread does. */
  static Preload begin() {
    Preload preload = new Preload();
    preload.start();
    return preload;
  }

  /**
   * Waits until logging is ready: SLF4J warns if two threads find its provider. Until then,
   * prepares the source of random numbers.
   */
  void awaitLogging() {
    new SecureRandom().nextBytes(new byte[1]); // The first bytes initialise the providers.
    Uninterruptibles.awaitUninterruptibly(logs);
  }

  @Override
  public void run() {
    try {
      LoggerFactory.getILoggerFactory();
    } finally {
      logs.countDown();
    }
    Object unused = NodeUri.parse("redis://localhost:6379");
    CONNECTION.forEach(name -> load(name, false));
    INITIALISED.forEach(name -> load(name, true));
    openChannel();
    ANNOTATED.forEach(Preload::readAnnotations);
    unused = Script.MARKER.text();
    LOCK.forEach(name -> load(name, false));
  }

  /** The JDK reads its settings of the network for the first channel. */
  private static void openChannel() {
    try (SocketChannel channel = SocketChannel.open()) {
      var unused = channel.socket();
      Selector.open().close();
    } catch (IOException e) {
      // The thread that connects then says so.
    }
  }

  private static void readAnnotations(String name) {
    Class<?> annotated = load(name, false);
    if (annotated != null) {
      var unused = annotated.getAnnotations();
      for (Method method : annotated.getMethods()) {
        unused = method.getAnnotations();
      }
    }
  }

  /** Null if it cannot be loaded. The thread that needs the class then says so. */
  private static @Nullable Class<?> load(String name, boolean initialise) {
    try {
      return Class.forName(name, initialise, Preload.class.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      return null;
    }
  }
}
