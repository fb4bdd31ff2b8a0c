package dev.redlock.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Draws the pictures of the documents from real runs, as SVG that follows the light or dark setting
 * of the reader.
 */
public final class Pictures {
  private static final Pattern STYLE = Pattern.compile("(?s)<style>(.*?)</style>");
  private static final Pattern SVG = Pattern.compile("(?s)<svg (.*?)>(.*)</svg>");
  private static final int COLUMNS = 126;
  private static final int FIRST_LINES = 12;
  private static final int LAST_LINES = 22;
  private static final double LINE_HEIGHT = 18;
  private static final double COLUMN_WIDTH = 7.8;

  private Pictures() {}

  /**
   * Draws one picture.
   *
   * @param args {@code timeline PAGE OUT}: the picture of a page that the demo has written; {@code
   *     terminal COMMAND TEXT OUT}: a terminal with the command and what it has printed
   */
  public static void main(String[] args) throws IOException {
    String kind = args[0];
    Path out = Path.of(args[args.length - 1]);
    String from = Files.readString(Path.of(args[args.length - 2]));
    Files.createDirectories(out.toAbsolutePath().getParent());
    Files.writeString(
        out, kind.equals("timeline") ? timeline(from) : terminal(args[1], shown(from)));
  }

  /** All lines but the one that names a file of the machine on which the picture was made. */
  private static List<String> shown(String output) {
    return output.lines().filter(line -> !line.startsWith("demo: picture: ")).toList();
  }

  /** The picture of a page, with the style sheet of the page in it. */
  static String timeline(String page) {
    Matcher style = STYLE.matcher(page);
    Matcher svg = SVG.matcher(page);
    if (!style.find() || !svg.find()) {
      throw new IllegalArgumentException("the page has no style or no picture");
    }
    return "<svg "
        + svg.group(1)
        + ">\n<style>\n"
        + style.group(1).replace("]]>", "")
        + "svg { font-family: system-ui, 'DejaVu Sans', sans-serif; }\n</style>\n"
        + "<rect width=\"100%\" height=\"100%\" style=\"fill: var(--card)\"/>\n"
        + svg.group(2)
        + "</svg>\n";
  }

  /** A terminal that shows the command, and the first and the last lines of its output. */
  static String terminal(String command, List<String> output) {
    List<String> lines = new ArrayList<>();
    lines.add("$ " + command);
    if (output.size() <= FIRST_LINES + LAST_LINES) {
      lines.addAll(output);
    } else {
      lines.addAll(output.subList(0, FIRST_LINES));
      lines.add("   … " + (output.size() - FIRST_LINES - LAST_LINES) + " lines …");
      lines.addAll(output.subList(output.size() - LAST_LINES, output.size()));
    }
    double width = COLUMNS * COLUMN_WIDTH + 40;
    double height = lines.size() * LINE_HEIGHT + 56;
    StringBuilder svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">%n",
            width,
            height));
    svg.append("<title>").append(HtmlPage.escape(command)).append("</title>\n");
    svg.append(
        """
        <style>
        :root { --back: #f6f7f9; --edge: #d7dde6; --ink: #1a2230; --soft: #66728a; --good: #14804a;
          --bad: #c22f2f; }
        @media (prefers-color-scheme: dark) {
          :root { --back: #141b24; --edge: #2c3847; --ink: #e7ecf3; --soft: #8e9bb0;
            --good: #5fd39a; --bad: #ff8681; }
        }
        text { font: 13px ui-monospace, "DejaVu Sans Mono", Consolas, monospace; fill: var(--ink);
          white-space: pre; }
        .command { font-weight: 700; } .soft { fill: var(--soft); }
        .good { fill: var(--good); font-weight: 700; } .bad { fill: var(--bad); }
        </style>
        """);
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect x=\".5\" y=\".5\" width=\"%.0f\" height=\"%.0f\" rx=\"9\""
                + " style=\"fill: var(--back); stroke: var(--edge)\"/>%n",
            width - 1,
            height - 1));
    double y = 34;
    for (String line : lines) {
      String shown = line.length() > COLUMNS ? line.substring(0, COLUMNS - 1) + "…" : line;
      svg.append(
          String.format(
              Locale.ROOT,
              "<text x=\"20\" y=\"%.0f\" class=\"%s\" xml:space=\"preserve\">%s</text>%n",
              y,
              colour(line),
              HtmlPage.escape(shown)));
      y += LINE_HEIGHT;
    }
    return svg.append("</svg>\n").toString();
  }

  private static String colour(String line) {
    if (line.startsWith("$ ")) {
      return "command";
    }
    if (line.contains(": PASS")) {
      return "good";
    }
    if (line.contains("OVERSOLD") || line.contains("FAIL") || line.contains("kill")) {
      return "bad";
    }
    return line.startsWith("demo: ") || line.startsWith("   …") ? "soft" : "plain";
  }
}
