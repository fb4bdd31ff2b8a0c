package dev.redlock.bench.system;

import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.LongAdder;

/** Counts the invalidations that the servers send to connections: their bytes contain one word. */
final class InvalidationCounter implements NettyCustomizer {
  private static final byte[] WORD = "\ninvalidate\r".getBytes(StandardCharsets.US_ASCII);

  private final LongAdder invalidations = new LongAdder();

  /** The number until now. */
  long count() {
    return invalidations.sum();
  }

  @Override
  public void afterChannelInitialized(Channel channel) {
    channel.pipeline().addFirst(new Reader());
  }

  /** Reads the bytes of one channel. */
  final class Reader extends ChannelInboundHandlerAdapter {
    /** How many bytes of the word were read last. Used by the thread of the channel. */
    private int matched;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof ByteBuf bytes) {
        bytes.forEachByte(
            each -> {
              // No byte of the word but its first one begins it, so one comparison is enough.
              matched = each == WORD[matched] ? matched + 1 : each == WORD[0] ? 1 : 0;
              if (matched == WORD.length) {
                invalidations.increment();
                matched = 0;
              }
              return true;
            });
      }
      context.fireChannelRead(message);
    }
  }
}
