package dev.redlock.simulation;

import dev.redlock.internal.protocol.HeldLease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Traces as {@code bin/simulate --trace} and {@code bin/failures --trace} write them, and the
 * modules that TLC reads. A line {@code trace MODEL NAME key=value …} begins a trace; each other
 * line is an event, {@code TIME KIND key=value …}.
 */
final class TraceFile {
  /** TLC counts to 2^31, so each token is renamed, and keeps its place in its grant. */
  private static final long PER_GRANT = HeldLease.TOKENS_PER_GRANT;

  private TraceFile() {}

  /** One line: a time, or "trace"; a word; and values. */
  record Event(String line, String time, String kind, Map<String, String> values) {
    static Event parse(String line) {
      String[] words = line.split(" ", -1);
      Map<String, String> values = new LinkedHashMap<>();
      for (int i = 2; i < words.length; i++) {
        int equals = words[i].indexOf('=');
        values.put(words[i].substring(0, Math.max(0, equals)), words[i].substring(equals + 1));
      }
      return new Event(line, words[0], words[1], values);
    }

    long number(String key) {
      String value = values.get(key);
      if (value == null) {
        throw new IllegalArgumentException("no " + key + " in the trace: " + line);
      }
      return Long.parseLong(value);
    }
  }

  /** The events of one world, or of one name. */
  record Recorded(String model, String name, Event head, List<Event> events) {
    List<String> lines() {
      return events.stream().map(Event::line).toList();
    }
  }

  static List<Recorded> parse(Collection<String> lines) {
    List<Recorded> traces = new ArrayList<>();
    for (String line : lines) {
      if (line.startsWith("trace ")) {
        String[] words = line.split(" ", 4);
        Event head =
            Event.parse(words[0] + " " + words[1] + (words.length > 3 ? " " + words[3] : ""));
        traces.add(new Recorded(words[1], words[2], head, new ArrayList<>()));
      } else {
        traces.get(traces.size() - 1).events().add(Event.parse(line));
      }
    }
    return traces;
  }

  /** A module for TLC and its configuration. */
  record Module(String text, String configuration) {}

  /** The trace of one simulated world. */
  static Module ofWorld(Recorded trace) {
    Map<Long, Long> grants = new TreeMap<>();
    for (Event e : trace.events()) {
      grants.put(e.number("t") / PER_GRANT, 0L);
      if (e.kind().equals("fails")) {
        grants.put(e.number("x") / PER_GRANT, 0L);
      }
    }
    grants.remove(0L);
    long next = 1;
    for (Map.Entry<Long, Long> grant : grants.entrySet()) {
      grant.setValue(next++);
    }
    long leases = trace.events().stream().mapToLong(e -> e.number("g")).max().orElse(1);
    String events =
        trace.events().stream()
            .map(
                e ->
                    "[at |-> %s, k |-> \"%s\", g |-> %d, n |-> %d, t |-> %d, x |-> %d, y |-> %d]"
                        .formatted(
                            e.time(),
                            e.kind(),
                            e.number("g"),
                            e.number("n"),
                            renamed(grants, e.number("t")),
                            e.kind().equals("fails")
                                ? renamed(grants, e.number("x"))
                                : e.number("x"),
                            e.number("y")))
            .collect(Collectors.joining(",\n  ", "<<\n  ", ">>"));
    String configuration =
        """
        SPECIFICATION TraceSpec
        CHECK_DEADLOCK FALSE
        INVARIANTS TraceExclusion TraceTokensDistinct TraceTokensOrdered NoneComesBack KeysDie
        CONSTANTS
          Nodes = {%s}
          Grants = {%s}
          NoGrant = 0
          Quorum = %d
          Validity = %d
          KeyLife = %d
          VoteAge = %d
          PerGrant = %d
          TopToken = %d
          Extensions = TRUE
          Breaks = TRUE
          Flaw = "none"
        """
            .formatted(
                upTo(trace.head().number("nodes")),
                upTo(Math.max(1, leases)),
                trace.head().number("quorum"),
                trace.head().number("validity"),
                trace.head().number("keyLife"),
                trace.head().number("voteAge"),
                PER_GRANT,
                PER_GRANT * next);
    return new Module(module("Trace == " + events), configuration);
  }

  private static long renamed(Map<Long, Long> grants, long token) {
    return token == 0 ? 0 : PER_GRANT * grants.get(token / PER_GRANT) + token % PER_GRANT;
  }

  private static String upTo(long last) {
    List<String> numbers = new ArrayList<>();
    for (long i = 1; i <= last; i++) {
      numbers.add(String.valueOf(i));
    }
    return String.join(", ", numbers);
  }

  /** The traces of the names of one run, all in one module. */
  static Module ofNames(List<Recorded> traces) {
    List<String> sequences = new ArrayList<>();
    List<String> tokens = new ArrayList<>();
    for (Recorded trace : traces) {
      TreeSet<Long> sorted = new TreeSet<>();
      Map<Long, Long> ofLease = new TreeMap<>();
      for (Event e : trace.events()) {
        if (e.kind().equals("got")) {
          sorted.add(e.number("t"));
          ofLease.put(e.number("l"), e.number("t"));
        }
      }
      List<Long> order = List.copyOf(sorted);
      tokens.add(
          ofLease.values().stream()
              .map(token -> String.valueOf(order.indexOf(token) + 1))
              .collect(Collectors.joining(", ", "<<", ">>")));
      sequences.add(
          trace.events().stream()
              .map(e -> "[k |-> \"%s\", l |-> %d]".formatted(e.kind(), e.number("l")))
              .collect(Collectors.joining(",\n  ", "<<", ">>")));
    }
    String text =
        "Traces == <<\n"
            + String.join(",\n", sequences)
            + ">>\nTokens == <<\n"
            + String.join(",\n", tokens)
            + ">>";
    return new Module(
        module(text),
        """
        SPECIFICATION TraceSpec
        CHECK_DEADLOCK FALSE
        """);
  }

  private static String module(String text) {
    return "---- MODULE Recorded ----\n" + text + "\n====\n";
  }
}
