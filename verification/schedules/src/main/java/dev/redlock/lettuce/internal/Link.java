package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One connection between the client and a server: delays, chunks, silence and the end. */
final class Link implements VirtualChannel.Wire {
  final int id;
  final ScriptedServer server;
  private final ConnectionWorld world;
  private final VirtualLoop loop;
  private final Random random;
  VirtualChannel channel;

  boolean established;
  boolean closedByClient;
  boolean droppedByServer;

  /** Half-open: no byte arrives any more, in either direction. */
  boolean silent;

  /** Whether the replies of a probe have arrived at the client. */
  int probeReplies;

  /** The client has shown its node as usable: the probe of this connection is through. */
  boolean probed;

  /** The client got a reply to a request that is no error. */
  boolean served;

  /** How many flushes the client was told of after the probe. */
  int flushesSeen;

  /** The server has restarted behind it. */
  boolean proxied;

  /** The client may have a reason to end it. */
  boolean faulty;

  private long toServerNanos;
  private long toClientNanos;
  private final ByteArrayOutputStream unread = new ByteArrayOutputStream();
  private final List<List<String>> waiting = new ArrayList<>();

  /** The server reads and writes nothing on this connection for a while. */
  private boolean hung;

  private final List<Runnable> pushesAfterHang = new ArrayList<>();

  /** The server knows that the client has ended it. */
  private boolean ended;

  Link(int id, ScriptedServer server, ConnectionWorld world, VirtualLoop loop, Random random) {
    this.id = id;
    this.server = server;
    this.world = world;
    this.loop = loop;
    this.random = random;
  }

  boolean isOpen() {
    return established && !closedByClient && !droppedByServer;
  }

  private long delay() {
    return random.nextInt(60) == 0 ? random.nextInt(300_000_000) : 20_000 + random.nextInt(400_000);
  }

  @Override
  public void connecting(VirtualChannel made) {
    channel = made;
    world.connecting(this);
  }

  void establish() {
    if (!closedByClient) {
      established = true;
      server.restartShows();
      channel.connected();
    }
  }

  @Override
  public void written(byte[] bytes) {
    if (droppedByServer) {
      return;
    }
    toServerNanos = Math.max(toServerNanos, loop.nanos() + delay());
    loop.at(toServerNanos - loop.nanos(), () -> arrive(bytes));
  }

  private void arrive(byte[] bytes) {
    if (silent || droppedByServer || ended) {
      return;
    }
    unread.writeBytes(bytes);
    for (List<String> words = parse(); words != null; words = parse()) {
      waiting.add(words);
    }
    work();
  }

  void halfOpen() {
    silent = true;
    faulty = true;
  }

  void hang() {
    hung = true;
    faulty = true;
  }

  void resume() {
    hung = false;
    List<Runnable> pushes = List.copyOf(pushesAfterHang);
    pushesAfterHang.clear();
    pushes.forEach(Runnable::run);
    work();
  }

  void work() {
    while (!hung && !silent && !droppedByServer && server.up && !waiting.isEmpty()) {
      List<String> words = waiting.remove(0);
      ScriptedServer.Answer answer = server.execute(words);
      faulty |= answer.unreadable() || server.loading;
      world.executed(this, answer);
      send(answer.bytes(), answer);
    }
  }

  /** Sends bytes to the client, in chunks. */
  void send(byte[] bytes, ScriptedServer.Answer answer) {
    toClientNanos = Math.max(toClientNanos, loop.nanos() + delay());
    int cut = random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length;
    byte[] first = java.util.Arrays.copyOf(bytes, cut);
    byte[] rest = java.util.Arrays.copyOfRange(bytes, cut, bytes.length);
    loop.at(
        toClientNanos - loop.nanos(),
        () -> {
          if (cut > 0) {
            deliver(first);
          }
          if (rest.length == 0) {
            arrivedAtClient(answer);
          }
        });
    if (rest.length > 0) {
      toClientNanos += random.nextInt(300_000);
      loop.at(
          toClientNanos - loop.nanos(),
          () -> {
            deliver(rest);
            arrivedAtClient(answer);
          });
    }
  }

  private void deliver(byte[] bytes) {
    if (!silent && !droppedByServer && !closedByClient) {
      channel.deliver(bytes);
      world.byteArrived(this);
    }
  }

  private void arrivedAtClient(ScriptedServer.Answer answer) {
    if (answer != null && answer.probe() && !silent && !droppedByServer && !closedByClient) {
      probeReplies++;
    }
  }

  void push(String text) {
    if (hung) {
      pushesAfterHang.add(() -> push(text));
    } else if (isOpen() && !silent) {
      send(text.getBytes(UTF_8), null);
    }
  }

  /** All keys are gone; the client learns it when the push arrives. */
  void pushFlush() {
    if (hung) {
      pushesAfterHang.add(this::pushFlush);
    } else if (isOpen() && !silent) {
      byte[] push = ">2\r\n$10\r\ninvalidate\r\n_\r\n".getBytes(UTF_8);
      toClientNanos = Math.max(toClientNanos, loop.nanos() + delay());
      loop.at(
          toClientNanos - loop.nanos(),
          () -> {
            if (!silent && !droppedByServer && !closedByClient) {
              deliver(push);
              flushesSeen += probeReplies >= 2 ? 1 : 0;
            }
          });
    }
  }

  void drop(boolean reset) {
    if (!droppedByServer) {
      droppedByServer = true;
      long delay = delay();
      loop.at(
          delay,
          () -> {
            if (!silent && !closedByClient) {
              channel.droppedByServer(reset);
            }
          });
    }
  }

  @Override
  public void closedByClient(boolean reset) {
    closedByClient = true;
    world.closedByClient(this, reset);
    toServerNanos = Math.max(toServerNanos, loop.nanos() + delay());
    loop.at(
        toServerNanos - loop.nanos(),
        () -> {
          ended = true;
          if (reset) {
            waiting.clear(); // What the server has not read is discarded.
          }
        });
  }

  /** The next whole command; null if there is none yet. */
  private List<String> parse() {
    byte[] all = unread.toByteArray();
    int[] at = {0};
    Integer count = number(all, at, '*');
    if (count == null) {
      return null;
    }
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Integer length = number(all, at, '$');
      if (length == null || at[0] + length + 2 > all.length) {
        return null;
      }
      words.add(new String(all, at[0], length, UTF_8));
      at[0] += length + 2;
    }
    unread.reset();
    unread.write(all, at[0], all.length - at[0]);
    return words;
  }

  private static Integer number(byte[] all, int[] at, char mark) {
    for (int i = at[0] + 1; i < all.length; i++) {
      if (all[i] == '\n') {
        if (all[at[0]] != mark) {
          throw new IllegalStateException("not a command: " + new String(all, UTF_8));
        }
        int value = Integer.parseInt(new String(all, at[0] + 1, i - at[0] - 2, UTF_8));
        at[0] = i + 1;
        return value;
      }
    }
    return null;
  }
}
