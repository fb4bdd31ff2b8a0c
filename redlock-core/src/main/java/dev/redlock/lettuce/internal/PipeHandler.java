package dev.redlock.lettuce.internal;

import dev.redlock.spi.Time;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;

/**
 * Stands at the head of a channel's pipeline: sees the end of the connection before Lettuce fails
 * what is unanswered on it, and when the last bytes came.
 */
final class PipeHandler extends ChannelInboundHandlerAdapter {
  private final Channel channel;
  private final Time time;

  /** Written by the channel's thread, read by the timer that looks for dead connections. */
  private volatile long lastReadNanos;

  // Guarded by this: the connection may break before anybody asked to be told.
  private boolean inactive;
  private @Nullable Runnable onInactive;

  PipeHandler(Channel channel, Time time) {
    this.channel = channel;
    this.time = time;
    this.lastReadNanos = time.nanos();
  }

  Channel channel() {
    return channel;
  }

  long lastReadNanos() {
    return lastReadNanos;
  }

  /** Runs the task when the connection breaks, or now if it has. */
  void whenInactive(Runnable task) {
    synchronized (this) {
      if (!inactive) {
        onInactive = task;
        return;
      }
    }
    task.run();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    lastReadNanos = time.nanos();
    context.fireChannelRead(message);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    Runnable task;
    synchronized (this) {
      inactive = true;
      task = onInactive;
    }
    if (task != null) {
      task.run();
    }
    context.fireChannelInactive();
  }
}
