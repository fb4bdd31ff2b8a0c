package dev.redlock.lettuce.internal;

import dev.redlock.spi.Time;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** The first handler of a channel: notices when bytes arrive. */
final class ChannelActivity extends ChannelInboundHandlerAdapter {
  private final Channel channel;
  private final Time time;

  /** Written by the channel's thread, read by the {@link LivenessWatch}. */
  private volatile long lastReadNanos;

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

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    lastReadNanos = time.nanos();
    context.fireChannelRead(message);
  }
}
