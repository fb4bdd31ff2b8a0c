package dev.redlock.vertx.internal;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of this package. Users set its level by this name. */
final class Log {
  static final Logger log = LoggerFactory.getLogger("dev.redlock.vertx.VertxRedlock");

  private Log() {}
}
