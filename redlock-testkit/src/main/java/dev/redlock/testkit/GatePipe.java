package dev.redlock.testkit;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;

/**
 * One direction of one connection through a gate: bytes, and at last the end, in order. Confined to
 * the gate's thread.
 *
 * <p>Without delay and backlog bytes go straight from socket to socket. Otherwise they wait in a
 * queue with the time at which they are due; an end of the stream queues up behind them, so that a
 * closed connection does not swallow what was sent before, as on a wire.
 */
final class GatePipe {

  /** Beyond this much undelivered the sender is not read from, like a full socket buffer. */
  private static final long MAX_BACKLOG_BYTES = 64L << 20;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private enum Kind {
    BYTES,
    END,
    RESET
  }

  private record Parcel(long dueNanos, Kind kind, ByteBuffer bytes) {}

  private final SocketChannel from;
  private final SocketChannel to;
  private final ArrayDeque<Parcel> backlog = new ArrayDeque<>();
  private long backlogBytes;
  private long lastDueNanos;

  /** The sender has closed, and how it did is queued, delivered or swallowed. */
  private boolean ended;

  /** Nothing more can or may be delivered. */
  private boolean finished;

  /** The receiver's buffer is full. */
  private boolean blocked;

  private boolean lostBytes;

  GatePipe(SocketChannel from, SocketChannel to) {
    this.from = from;
    this.to = to;
  }

  boolean wantsRead() {
    return !ended && backlogBytes < MAX_BACKLOG_BYTES;
  }

  boolean wantsWrite() {
    return blocked;
  }

  boolean isFinished() {
    return finished;
  }

  /** Whether something that was sent will never arrive: the stream is broken for good. */
  boolean hasLost() {
    return lostBytes;
  }

  /** When to call {@link #deliver}; meaningless if nothing waits for its time. */
  long nextDueNanos() {
    Parcel first = backlog.peek();
    return first == null || blocked ? Long.MAX_VALUE : first.dueNanos;
  }

  boolean waits() {
    return !backlog.isEmpty() && !blocked;
  }

  /** Takes what the sender has and the scratch has room for; returns how many bytes were read. */
  int read(ByteBuffer scratch, boolean drop, long delayNanos, long nowNanos) {
    int count;
    try {
      count = from.read(scratch);
    } catch (IOException e) {
      ended = true;
      accept(Kind.RESET, NOTHING, drop, delayNanos, nowNanos);
      return 0;
    }
    if (count < 0) {
      ended = true;
      accept(Kind.END, NOTHING, drop, delayNanos, nowNanos);
      return 0;
    }
    accept(Kind.BYTES, scratch.flip(), drop, delayNanos, nowNanos);
    return count;
  }

  private void accept(Kind kind, ByteBuffer bytes, boolean drop, long delayNanos, long nowNanos) {
    if (drop) {
      lostBytes |= bytes.hasRemaining() || ended;
      finished |= ended && backlog.isEmpty();
      return;
    }
    if (finished || (delayNanos == 0 && backlog.isEmpty() && write(kind, bytes))) {
      return;
    }
    long due = nowNanos + delayNanos;
    if (!backlog.isEmpty() && due - lastDueNanos < 0) {
      due = lastDueNanos; // a delay that was shortened must not let bytes overtake others
    }
    lastDueNanos = due;
    backlogBytes += bytes.remaining();
    backlog.add(new Parcel(due, kind, ByteBuffer.allocate(bytes.remaining()).put(bytes).flip()));
  }

  /** Delivers what is due, as far as the receiver takes it. */
  void deliver(long nowNanos) {
    blocked = false;
    for (Parcel first = backlog.peek(); first != null; first = backlog.peek()) {
      if (first.dueNanos - nowNanos > 0) {
        return;
      }
      int before = first.bytes.remaining();
      boolean whole = write(first.kind, first.bytes);
      if (finished) {
        return;
      }
      backlogBytes -= before - first.bytes.remaining();
      if (!whole) {
        return;
      }
      backlog.poll();
    }
    finished |= lostBytes && ended;
  }

  /** Everything that waits is due at once. */
  void hurry(long nowNanos) {
    ArrayDeque<Parcel> waiting = new ArrayDeque<>(backlog);
    backlog.clear();
    waiting.forEach(parcel -> backlog.add(new Parcel(nowNanos, parcel.kind, parcel.bytes)));
    lastDueNanos = nowNanos;
  }

  /** True if all of it is on its way; else the receiver must first take what it has. */
  private boolean write(Kind kind, ByteBuffer bytes) {
    try {
      switch (kind) {
        case BYTES -> {
          to.write(bytes);
          blocked = bytes.hasRemaining();
        }
        case END -> {
          to.shutdownOutput();
          finish();
        }
        case RESET -> {
          to.setOption(StandardSocketOptions.SO_LINGER, 0);
          to.close();
          finish();
        }
      }
    } catch (IOException e) {
      finish(); // the receiver is gone; the other direction will read that
    }
    return !blocked;
  }

  private void finish() {
    finished = true;
    blocked = false;
    backlog.clear();
    backlogBytes = 0;
  }
}
