package dev.redlock.lettuce.internal;

import dev.redlock.spi.Time;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;

/**
 * The first handler of a channel: notices when bytes arrive, and when the connection ends, before
 * Lettuce fails the requests that have no reply.
 */
final class ChannelActivity extends ChannelInboundHandlerAdapter {
  private final Channel channel;
  private final Time time;

  /** Written by the channel's thread, read by the {@link LivenessWatch}. */
  private volatile long lastReadNanos;

  // Guarded by this: the connection may end before the task is set.
  private boolean inactive;
  private @Nullable Runnable onInactive;

  ChannelActivity(Channel channel, Time time) {
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

  /** Runs the task when the connection ends; at once if it has ended. */
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
