package dev.redlock.bench.scenario;

/** Something that is measured of several systems in turn. */
public interface Scenario {
  /** What it is called on the command line and in the ratio lines. */
  String name();

  /** Measures, and adds what was seen to the run's results. */
  void measure(Run run) throws Exception;
}
