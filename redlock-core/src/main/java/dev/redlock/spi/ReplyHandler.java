package dev.redlock.spi;

/** Receives the one reply of a node to one request. Called on an I/O thread; must not block. */
@FunctionalInterface
public interface ReplyHandler {
  void onReply(NodeReply reply);
}
