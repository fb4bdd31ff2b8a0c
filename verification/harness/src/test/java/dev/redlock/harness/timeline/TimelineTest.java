package dev.redlock.harness.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.Window;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimelineTest {

  @Test
  void overlaps_ofHoldsThatTouch_isEmpty() {
    assertThat(overlaps(lane("a", 0, 10, 20, 30), lane("b", 10, 20))).isEmpty();
  }

  @Test
  void overlaps_ofTwoThatShare_isWhatTheyShare() {
    assertThat(overlaps(lane("a", 0, 10), lane("b", 4, 20))).containsExactly(new Window(4, 10));
  }

  @Test
  void overlaps_ofThreeThatShare_isOneStretch() {
    assertThat(overlaps(lane("a", 0, 10), lane("b", 4, 20), lane("c", 5, 15)))
        .containsExactly(new Window(4, 15));
  }

  @Test
  void overlaps_withinOneLane_isFoundToo() {
    assertThat(overlaps(lane("a", 0, 10, 5, 15))).containsExactly(new Window(5, 10));
  }

  @Test
  void overlaps_ofHoldThatTookNoTime_isEmpty() {
    assertThat(overlaps(lane("a", 0, 10), lane("b", 5, 5))).isEmpty();
  }

  @Test
  void overlaps_withKeyKeptForAnotherThatIsGone_isEmpty() {
    HolderLane gone = new HolderLane("a", List.of(new Hold(0, 10, 100, 1, "")), List.of());

    assertThat(overlaps(gone, lane("b", 50, 60))).isEmpty();
  }

  @Test
  void bins_ofManyShortHolds_addUpTheirTimeAndKeepTheirTokens() {
    List<HoldBins.Bin> bins =
        HoldBins.of(
            List.of(Hold.released(0, 10, 7), Hold.released(20, 40, 9), Hold.released(90, 150, 12)),
            100,
            1000);

    assertThat(bins)
        .containsExactly(
            new HoldBins.Bin(0, 100, 0.4, 3, 7, 12), new HoldBins.Bin(100, 200, 0.5, 1, 12, 12));
  }

  @Test
  void bins_ofOverlappingHolds_neverExceedTheWhole() {
    List<HoldBins.Bin> bins =
        HoldBins.of(List.of(Hold.released(0, 100, 0), Hold.released(0, 100, 0)), 100, 100);

    assertThat(bins).containsExactly(new HoldBins.Bin(0, 100, 1, 2, 0, 0));
  }

  @Test
  void liveliest_ofRunWithOneBusyChange_showsIt() {
    HolderLane a = lane("a", 0, 10, 10, 20, 20, 30, 40, 50, 60, 70);
    HolderLane b = lane("b", 30, 40, 50, 60);

    Window window = CloseUp.liveliest(List.of(a, b), 4);

    assertThat(window).isEqualTo(new Window(20, 60));
  }

  @Test
  void liveliest_ofTooFewHolds_isNothing() {
    assertThat(CloseUp.liveliest(List.of(lane("a", 0, 10)), 4)).isNull();
  }

  @Test
  void liveliest_withLongGap_prefersAStretchWithoutIt() {
    HolderLane a = lane("a", 0, 10, 20, 30, 40, 50, 60, 70);
    HolderLane b = lane("b", 5000, 5010, 5020, 5030, 5040, 5050);

    Window window = CloseUp.liveliest(List.of(a, b), 3);

    assertThat(window).isNotNull();
    assertThat(window.toNanos() - window.fromNanos()).isLessThan(100);
  }

  @Test
  void ticks_ofThirtySeconds_areRoundAndLabelledAlike() {
    Scale scale = new Scale(0, 30_000_000_000L, 0, 1000);

    assertThat(scale.ticks()).startsWith(0L, 2_000_000_000L).hasSize(16);
    assertThat(scale.label(2_000_000_000L)).isEqualTo("2 s");
  }

  @Test
  void ticks_ofMillisecondsLateInARun_keepTheirDigits() {
    Scale scale = new Scale(14_203_000_000L, 14_283_000_000L, 0, 1000);

    assertThat(scale.label(14_210_000_000L)).isEqualTo("14.210 s");
  }

  @Test
  void hold_thatEndsBeforeItBegins_isRefusedWithBothTimes() {
    assertThatThrownBy(() -> Hold.released(9, 3, 1)).hasMessageContainingAll("9", "3");
  }

  private static List<Window> overlaps(HolderLane... lanes) {
    Timeline.Builder timeline = Timeline.builder("t", 1000);
    return timeline.holders(List.of(lanes)).build().overlaps();
  }

  private static HolderLane lane(String name, long... fromTo) {
    List<Hold> holds = new java.util.ArrayList<>();
    for (int i = 0; i < fromTo.length; i += 2) {
      holds.add(Hold.released(fromTo[i], fromTo[i + 1], i + 1));
    }
    return new HolderLane(name, holds, List.of());
  }
}
