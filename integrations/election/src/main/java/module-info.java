/** Leader election on top of Redlock: work that runs on one of many instances. */
module dev.redlock.election {
  requires transitive dev.redlock.core;
  requires com.google.common;
  requires org.slf4j;
  requires transitive org.jspecify;

  exports dev.redlock.election;
}
