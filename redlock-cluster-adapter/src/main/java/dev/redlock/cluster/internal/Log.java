package dev.redlock.cluster.internal;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of this package. Users set its level by this name. */
final class Log {
  static final Logger log = LoggerFactory.getLogger("dev.redlock.cluster.ClusterLockNode");

  private Log() {}
}
