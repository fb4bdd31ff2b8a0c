package dev.redlock.harness.timeline;

import dev.redlock.harness.timeline.Timeline.Fault;
import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.NodeLane;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a {@link Timeline} from lines of text, which programs without this kit can write. Fields
 * are separated by tabs. Times are nanoseconds since the start:
 *
 * <pre>
 * title    TEXT   LENGTH
 * verdict  true|false   TEXT
 * fact     LABEL  VALUE
 * holder   LANE                                 declares a lane, which may stay empty
 * hold     LANE   FROM  TO  TOKEN  NOTE
 * node     LANE   STATE FROM  TO                a {@link Timeline.State}
 * fault    AT     LANE|-  TEXT
 * note     TEXT
 * </pre>
 */
public final class TimelineFile {
  private TimelineFile() {}

  /**
   * Parses a timeline.
   *
   * @throws IllegalArgumentException if a line is invalid; the message contains it
   */
  public static Timeline parse(List<String> lines) {
    if (lines.isEmpty() || !lines.get(0).startsWith("title\t")) {
      throw new IllegalArgumentException(
          "The first line of a timeline must be its title, was " + lines);
    }
    String[] title = fields(lines.get(0), 3);
    Timeline.Builder timeline = Timeline.builder(title[1], Long.parseLong(title[2]));
    Map<String, List<Hold>> holders = new LinkedHashMap<>();
    Map<String, List<Phase>> nodes = new LinkedHashMap<>();
    List<Fault> faults = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      String kind = line.substring(0, Math.max(0, line.indexOf('\t')));
      switch (kind) {
        case "verdict" -> {
          String[] f = fields(line, 3);
          timeline.verdict(Boolean.parseBoolean(f[1]), f[2]);
        }
        case "fact" -> {
          String[] f = fields(line, 3);
          timeline.fact(f[1], f[2]);
        }
        case "holder" -> holders.computeIfAbsent(fields(line, 2)[1], lane -> new ArrayList<>());
        case "hold" -> {
          String[] f = fields(line, 6);
          long to = Long.parseLong(f[3]);
          holders
              .computeIfAbsent(f[1], lane -> new ArrayList<>())
              .add(new Hold(Long.parseLong(f[2]), to, to, Long.parseLong(f[4]), f[5]));
        }
        case "node" -> {
          String[] f = fields(line, 5);
          nodes
              .computeIfAbsent(f[1], lane -> new ArrayList<>())
              .add(new Phase(State.valueOf(f[2]), Long.parseLong(f[3]), Long.parseLong(f[4])));
        }
        case "fault" -> {
          String[] f = fields(line, 4);
          faults.add(new Fault(Long.parseLong(f[1]), f[3], f[2].equals("-") ? null : f[2]));
        }
        case "note" -> timeline.note(fields(line, 2)[1]);
        default -> throw new IllegalArgumentException("Invalid line of a timeline: " + line);
      }
    }
    List<HolderLane> lanes = new ArrayList<>();
    holders.forEach((name, holds) -> lanes.add(new HolderLane(name, holds, List.of())));
    List<NodeLane> nodeLanes = new ArrayList<>();
    nodes.forEach((name, phases) -> nodeLanes.add(new NodeLane(name, phases)));
    return timeline
        .holders(lanes)
        .nodes(nodeLanes)
        .faults(faults)
        .closeUp(CloseUp.liveliest(lanes, 24))
        .build();
  }

  private static String[] fields(String line, int count) {
    String[] fields = line.split("\t", -1);
    if (fields.length != count) {
      throw new IllegalArgumentException(
          "Expected " + count + " fields and found " + fields.length + ": " + line);
    }
    return fields;
  }

  /** Reads the timeline from the first file and writes the page to the second. */
  public static void main(String[] args) throws IOException {
    if (args.length != 2) {
      throw new IllegalArgumentException("Usage: TimelineFile INPUT OUTPUT.html");
    }
    Timeline timeline = parse(Files.readAllLines(Path.of(args[0])));
    Files.writeString(Path.of(args[1]), TimelineHtml.render(timeline));
  }
}
