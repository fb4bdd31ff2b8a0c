package dev.redlock.bench.scenario;

/** A measurement of several systems in turn. */
public interface Scenario {
  /** Its name on the command line and in the ratio lines. */
  String name();

  /** Measures, and adds the figures to the results of the run. */
  void measure(Run run) throws Exception;
}
