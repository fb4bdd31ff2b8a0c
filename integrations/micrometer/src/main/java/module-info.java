/**
 * Meters and observations of Redlock clients for Micrometer, and events for the Flight Recorder.
 */
module dev.redlock.micrometer {
  requires transitive dev.redlock.core;
  requires transitive micrometer.core;
  requires transitive micrometer.observation;
  requires transitive micrometer.commons;
  requires transitive org.jspecify;
  requires org.slf4j;
  // For FlightRecorderListener, in a runtime that has it.
  requires static jdk.jfr;

  exports dev.redlock.micrometer;
}
