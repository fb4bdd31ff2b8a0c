package dev.redlock.harness.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.timeline.Timeline.Fault;
import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

class TimelineHtmlTest {

  private static final Timeline SAMPLE =
      Timeline.builder("sample", 5_000_000_000L)
          .verdict(true, "PASS")
          .holders(List.of(lane("w", Hold.released(0, 5_000_000, 7))))
          .nodes(
              List.of(
                  new Timeline.NodeLane(
                      "master 2",
                      List.of(
                          new Timeline.Phase(Timeline.State.VOTING, 0, 3_000_000_000L),
                          new Timeline.Phase(
                              Timeline.State.DEAD, 3_000_000_000L, 5_000_000_000L)))))
          .faults(List.of(new Fault(3_000_000_000L, "master 2 killed", "master 2")))
          .closeUp(new Timeline.Window(0, 6_000_000))
          .build();

  @Test
  void render_refersToNothingOutside_runsNoScript_andIsWellFormedSvg() throws Exception {
    String page = TimelineHtml.render(SAMPLE);
    assertThat(page).doesNotContain("<script", "<link", "@import", "src=", "href=");
    assertThat(page.replace("http://www.w3.org/2000/svg", "")).doesNotContain("http:", "https:");
    assertThat(page).containsOnlyOnce("<svg ");
    assertThat(parse(svgOf(page)).getDocumentElement().getNodeName()).isEqualTo("svg");
  }

  @Test
  void render_withoutTokens_saysNothingOfTokens() {
    HolderLane lane = lane("w", Hold.released(0, 500, 0));
    Timeline.Builder timeline = Timeline.builder("title", 1000).holders(List.of(lane));
    String page = TimelineHtml.render(timeline.closeUp(new Timeline.Window(0, 500)).build());
    assertThat(page).contains("close-up").doesNotContain("token");
  }

  @Test
  void render_ofHostileText_escapesIt() throws Exception {
    String hostile = "</title><b>&\"'\u0001";
    Timeline timeline =
        Timeline.builder(hostile, 1000)
            .verdict(false, hostile)
            .fact(hostile, hostile)
            .holders(List.of(lane(hostile, new Hold(0, 500, 900, 7, hostile))))
            .faults(List.of(new Fault(10, hostile, hostile)))
            .note(hostile)
            .build();

    String page = TimelineHtml.render(timeline);

    assertThat(page).doesNotContain("<b>", "\u0001");
    parse(svgOf(page));
  }

  @Test
  void render_ofEmptyRun_drawsAnEmptyPicture() throws Exception {
    parse(svgOf(TimelineHtml.render(Timeline.builder("nothing", 1).build())));
  }

  @Test
  void render_ofHoldThatIsWide_showsItsTokenInFullOnPointing() {
    Timeline timeline =
        Timeline.builder("one", 1_000_000)
            .holders(List.of(lane("a", Hold.released(0, 900_000, 1_795_250_000_123_456L))))
            .build();

    assertThat(TimelineHtml.render(timeline)).contains("token 1795250000123456", ">…3456</text>");
  }

  @Test
  void render_ofOverlappingHolds_showsThatTwoHeldAtOnce() {
    Timeline timeline =
        Timeline.builder("two", 1000)
            .holders(List.of(lane("a", Hold.released(0, 600, 1))))
            .holders(List.of(lane("b", Hold.released(500, 900, 2))))
            .build();

    assertThat(TimelineHtml.render(timeline)).contains("two at once");
    assertThat(TimelineHtml.render(SAMPLE)).doesNotContain("two at once");
  }

  @Test
  void render_ofFaults_saysInThePictureWhatTheirNumbersMean() {
    assertThat(svgOf(TimelineHtml.render(SAMPLE)))
        .contains(">1</text>", ">3.0 s: master 2 killed</text>");
  }

  private static HolderLane lane(String name, Hold hold) {
    return new HolderLane(name, List.of(hold), List.of());
  }

  private static String svgOf(String page) {
    return page.substring(page.indexOf("<svg "), page.indexOf("</svg>") + "</svg>".length());
  }

  private static Document parse(String svg) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
    return factory
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }
}
