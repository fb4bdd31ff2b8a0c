package dev.redlock.lettuce.internal;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** A connection of the client: its bytes go to a {@link Wire}, and come from it. */
final class VirtualChannel extends AbstractChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false);
  private static final SocketAddress HERE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
  private static final SocketAddress THERE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);

  /** What the client does with a connection. */
  interface Wire {
    /** The client connects. It learns the result later, or never. */
    void connecting(VirtualChannel channel);

    void written(byte[] bytes);

    /** The client ended it, with a TCP reset or without. */
    void closedByClient(boolean reset);
  }

  private final ChannelConfig config = new Config();
  private final Wire wire;
  private ChannelPromise connecting;
  private boolean open = true;
  private boolean reset;
  private boolean active;

  VirtualChannel(Wire wire) {
    super(null);
    this.wire = wire;
  }

  // What the world does, on the loop.

  void connected() {
    eventLoop()
        .execute(
            () -> {
              if (open && connecting != null && !connecting.isDone()) {
                active = true;
                connecting.trySuccess();
                pipeline().fireChannelActive();
              }
            });
  }

  void refused() {
    eventLoop()
        .execute(
            () -> {
              if (connecting != null) {
                connecting.tryFailure(new ConnectException("Connection refused"));
              }
              unsafe().close(voidPromise());
            });
  }

  void deliver(byte[] bytes) {
    eventLoop()
        .execute(
            () -> {
              if (active) {
                pipeline().fireChannelRead(Unpooled.wrappedBuffer(bytes));
                pipeline().fireChannelReadComplete();
              }
            });
  }

  void droppedByServer(boolean reset) {
    eventLoop()
        .execute(
            () -> {
              if (open) {
                if (reset) {
                  pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
                }
                unsafe().close(voidPromise());
              }
            });
  }

  // What Netty asks for.

  private final class Config extends DefaultChannelConfig {
    Config() {
      super(VirtualChannel.this);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
      if (option.equals(ChannelOption.SO_LINGER)) {
        reset = value.equals(0);
        return true;
      }
      return super.setOption(option, value);
    }
  }

  private final class Unsafe extends AbstractUnsafe {
    @Override
    public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
      if (promise.setUncancellable() && ensureOpen(promise)) {
        connecting = promise;
        wire.connecting(VirtualChannel.this);
      }
    }
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new Unsafe();
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return loop instanceof VirtualLoop;
  }

  @Override
  protected SocketAddress localAddress0() {
    return HERE;
  }

  @Override
  protected SocketAddress remoteAddress0() {
    return THERE;
  }

  @Override
  protected void doBind(SocketAddress address) {}

  @Override
  protected void doDisconnect() {
    doClose();
  }

  @Override
  protected void doClose() {
    if (open) {
      open = false;
      active = false;
      if (connecting != null) {
        connecting.tryFailure(new ConnectException("closed while connecting"));
      }
      wire.closedByClient(reset);
    }
  }

  @Override
  protected void doBeginRead() {}

  @Override
  protected void doWrite(ChannelOutboundBuffer out) {
    for (Object message = out.current(); message != null; message = out.current()) {
      ByteBuf buffer = (ByteBuf) message;
      byte[] bytes = new byte[buffer.readableBytes()];
      buffer.readBytes(bytes);
      wire.written(bytes);
      out.remove();
    }
  }

  @Override
  public ChannelConfig config() {
    return config;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public boolean isActive() {
    return active;
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
  }
}
