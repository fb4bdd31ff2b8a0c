package dev.redlock.harness.timeline;

import static dev.redlock.harness.timeline.Svg.escape;

import dev.redlock.harness.timeline.Timeline.Fact;

/**
 * Renders a {@link Timeline} as one HTML page with one inline SVG. The page has no external
 * references and no script, and follows the light or dark setting of the browser. Equal timelines
 * give equal pages.
 */
public final class TimelineHtml {
  private TimelineHtml() {}

  /** Returns the page. */
  public static String render(Timeline timeline) {
    StringBuilder page = new StringBuilder(1 << 17);
    page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.append("<meta name=\"color-scheme\" content=\"light dark\">\n");
    page.append("<title>").append(escape(timeline.title())).append("</title>\n");
    page.append("<style>\n")
        .append(TimelineStyle.CSS)
        .append("</style>\n</head>\n<body>\n<main>\n");
    head(page, timeline);
    page.append("<figure>\n").append(new TimelinePicture(timeline).svg()).append("</figure>\n");
    foot(page, timeline);
    return page.append("</main>\n</body>\n</html>\n").toString();
  }

  private static void head(StringBuilder page, Timeline timeline) {
    page.append("<header>\n<h1>").append(escape(timeline.title())).append("</h1>\n");
    page.append("<p class=\"verdict ").append(timeline.passed() ? "good" : "bad").append("\">");
    page.append(escape(timeline.verdict())).append("</p>\n</header>\n");
    if (timeline.facts().isEmpty()) {
      return;
    }
    page.append("<dl class=\"facts\">\n");
    for (Fact fact : timeline.facts()) {
      page.append("<div><dt>").append(escape(fact.label())).append("</dt><dd>");
      page.append(escape(fact.value())).append("</dd></div>\n");
    }
    page.append("</dl>\n");
  }

  private static void foot(StringBuilder page, Timeline timeline) {
    for (String note : timeline.notes()) {
      page.append("<p class=\"note\">").append(escape(note)).append("</p>\n");
    }
  }
}
