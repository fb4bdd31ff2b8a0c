package dev.redlock.harness.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class TimelineFileTest {

  @Test
  void lines_becomeTheTimeline() {
    Timeline timeline =
        TimelineFile.parse(
            List.of(
                "title\tseed 42\t1000",
                "verdict\tfalse\texclusion",
                "fact\tevents\t7",
                "holder\tA",
                "hold\tB\t10\t30\t77\tB.1",
                "node\tn1\tVOTING\t0\t500",
                "node\tn1\tDEAD\t500\t1000",
                "fault\t500\tn1\tcrashes",
                "fault\t600\t-\tall links reset",
                "note\tvirtual time"));

    assertThat(timeline.title()).isEqualTo("seed 42");
    assertThat(timeline.passed()).isFalse();
    assertThat(timeline.holders()).extracting(Timeline.HolderLane::name).containsExactly("A", "B");
    assertThat(timeline.holders().get(1).holds())
        .containsExactly(new Timeline.Hold(10, 30, 30, 77, "B.1"));
    assertThat(timeline.nodes().get(0).phases())
        .containsExactly(
            new Timeline.Phase(Timeline.State.VOTING, 0, 500),
            new Timeline.Phase(Timeline.State.DEAD, 500, 1000));
    assertThat(timeline.faults())
        .containsExactly(
            new Timeline.Fault(500, "crashes", "n1"),
            new Timeline.Fault(600, "all links reset", null));
    assertThat(TimelineHtml.render(timeline)).contains("seed 42", "virtual time", "<svg");
  }

  @Test
  void line_invalid_isRejectedWithItsText() {
    assertThatThrownBy(() -> TimelineFile.parse(List.of("title\tt\t10", "hold\tA\t1")))
        .hasMessageContaining("hold\tA\t1");
    assertThatThrownBy(() -> TimelineFile.parse(List.of("title\tt\t10", "what\tA")))
        .hasMessageContaining("what\tA");
    assertThatThrownBy(() -> TimelineFile.parse(List.of())).hasMessageContaining("title");
  }
}
