/** Meters and observations of Redlock clients, for Micrometer. */
module dev.redlock.micrometer {
  requires transitive dev.redlock.core;
  requires transitive micrometer.core;
  requires transitive micrometer.observation;
  requires transitive micrometer.commons;
  requires transitive org.jspecify;
  requires org.slf4j;

  exports dev.redlock.micrometer;
}
