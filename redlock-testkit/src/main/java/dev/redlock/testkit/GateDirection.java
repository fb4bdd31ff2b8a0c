package dev.redlock.testkit;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;

/**
 * One direction of one connection through a gate: the bytes in order, and then the end of the
 * stream. Confined to the gate's thread.
 *
 * <p>Without a delay and a backlog, bytes go directly from socket to socket. Otherwise they are
 * queued with the time at which they are due. The end of the stream is queued behind them, so that
 * a close does not discard bytes that were sent before it.
 */
final class GateDirection {

  /**
   * Above this number of undelivered bytes the gate does not read from the sender, like a full
   * socket buffer.
   */
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

  /** The sender has closed, and the end of the stream is queued, delivered or swallowed. */
  private boolean ended;

  /** No more bytes can or may be delivered. */
  private boolean finished;

  /** The receiver's buffer is full. */
  private boolean blocked;

  private boolean lostBytes;

  GateDirection(SocketChannel from, SocketChannel to) {
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

  /** Whether bytes were lost, so that the stream is broken for good. */
  boolean hasLost() {
    return lostBytes;
  }

  /** When to call {@link #deliver}; meaningless if no bytes are queued. */
  long nextDueNanos() {
    Parcel first = backlog.peek();
    return first == null || blocked ? Long.MAX_VALUE : first.dueNanos;
  }

  boolean waits() {
    return !backlog.isEmpty() && !blocked;
  }

  /**
   * Reads what the sender has sent, as far as the scratch buffer has room; returns the number of
   * bytes.
   */
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
      due = lastDueNanos; // after a delay is shortened, bytes must not overtake earlier ones
    }
    lastDueNanos = due;
    backlogBytes += bytes.remaining();
    backlog.add(new Parcel(due, kind, ByteBuffer.allocate(bytes.remaining()).put(bytes).flip()));
  }

  /** Delivers the bytes that are due, as far as the receiver accepts them. */
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

  /** Makes all queued bytes due at once. */
  void hurry(long nowNanos) {
    ArrayDeque<Parcel> waiting = new ArrayDeque<>(backlog);
    backlog.clear();
    waiting.forEach(parcel -> backlog.add(new Parcel(nowNanos, parcel.kind, parcel.bytes)));
    lastDueNanos = nowNanos;
  }

  /** Returns true if all bytes were written; otherwise the buffer of the receiver is full. */
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
      finish(); // the receiver has closed; the other direction will read that
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
