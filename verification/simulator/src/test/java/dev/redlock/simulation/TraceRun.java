package dev.redlock.simulation;

import dev.redlock.exhaustive.Tlc;
import dev.redlock.simulation.TraceFile.Module;
import dev.redlock.simulation.TraceFile.Recorded;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks TLC whether traces are behaviours of their model. */
final class TraceRun {
  private static final Pattern REACHED = Pattern.compile("<<\"reached\", (\\d+), (\\d+)>>");
  private static final Pattern VIOLATED = Pattern.compile("Error: Invariant (\\w+) is violated");

  /** Events in one run of TLC, about. */
  private static final int BATCH = 8_000;

  private final Path work;
  int traces;
  int events;
  long states;
  double seconds;

  /** How many events of each kind: which actions of the proof the traces exercise. */
  private final Map<String, Integer> kinds = new TreeMap<>();

  /** What is wrong, with the event at which it is. */
  final List<String> refused = new ArrayList<>();

  /** The directory must exist. */
  TraceRun(Path work) {
    this.work = work;
  }

  /** Checks all traces of a file, or of several that were appended. */
  TraceRun check(List<Recorded> all) throws Exception {
    List<Recorded> names = new ArrayList<>();
    for (Recorded trace : all) {
      switch (trace.model()) {
        case "HandOff" -> check(List.of(trace), TraceFile.ofWorld(trace), "HandOffTrace");
        case "Register" -> names.add(trace);
        default -> throw new IllegalArgumentException("no model for the trace " + trace.model());
      }
    }
    for (List<Recorded> some : batches(names)) {
      check(some, TraceFile.ofNames(some), "RegisterTrace");
    }
    return this;
  }

  /** TLC reads a short module faster than a long one. */
  private static List<List<Recorded>> batches(List<Recorded> names) {
    List<List<Recorded>> batches = new ArrayList<>();
    int size = BATCH;
    for (Recorded trace : names) {
      if (size >= BATCH) {
        batches.add(new ArrayList<>());
        size = 0;
      }
      batches.get(batches.size() - 1).add(trace);
      size += trace.events().size();
    }
    return batches;
  }

  private void check(List<Recorded> some, Module module, String base) throws Exception {
    Path directory = Files.createTempDirectory(work, base);
    Files.copy(Tlc.MODELS.resolve(base + ".tla"), directory.resolve(base + ".tla"));
    Files.writeString(directory.resolve("Recorded.tla"), module.text());
    Files.writeString(directory.resolve("trace.cfg"), module.configuration());
    Tlc.Result result =
        Tlc.run(
            directory,
            directory,
            List.of(
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx1g",
                "-Xss16m",
                "-DTLA-Library=" + Tlc.MODELS.toAbsolutePath()),
            List.of("-workers", "1", "-nowarning", "-config", "trace.cfg", base + ".tla"));
    Matcher violated = VIOLATED.matcher(result.output());
    boolean found = violated.find();
    if (result.status() != 0 && !found) {
      throw new IllegalStateException("TLC failed:\n" + tail(result.output()));
    }
    Map<Integer, Integer> reached = new HashMap<>();
    Matcher progress = REACHED.matcher(result.output());
    while (progress.find()) {
      reached.merge(
          Integer.parseInt(progress.group(1)), Integer.parseInt(progress.group(2)), Math::max);
    }
    for (int i = 0; i < some.size(); i++) {
      Recorded trace = some.get(i);
      int next = reached.getOrDefault(i + 1, 1);
      if (found) {
        // The state after the last event that was read violates it.
        refused.add(describe(trace, next, "violates " + violated.group(1)));
      } else if (next <= trace.events().size()) {
        refused.add(describe(trace, next, "is not possible"));
      }
      events += trace.events().size();
      trace.events().forEach(event -> kinds.merge(event.kind(), 1, Integer::sum));
    }
    traces += some.size();
    states += Long.parseLong(result.states().replace(",", ""));
    seconds += result.seconds();
  }

  private static String describe(Recorded trace, int event, String what) {
    int index = Math.min(event, trace.events().size());
    List<String> before = trace.lines().subList(Math.max(0, index - 6), index - 1);
    return String.format(
        Locale.ROOT,
        "trace %s of %s: event %d of %d %s: %s (before it: %s)",
        trace.name(),
        trace.model(),
        index,
        trace.events().size(),
        what,
        trace.events().get(index - 1).line(),
        String.join("; ", before));
  }

  private static String tail(String output) {
    return output.substring(Math.max(0, output.length() - 3000));
  }

  String summary(String what) {
    return String.format(
        Locale.ROOT,
        "traces: %s: traces=%d events=%d states=%d refused=%d, %.0f s; %s",
        what,
        traces,
        events,
        states,
        refused.size(),
        seconds,
        kinds);
  }
}
