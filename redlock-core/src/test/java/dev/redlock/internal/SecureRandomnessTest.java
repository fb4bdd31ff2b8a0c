package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Lease ids of processes that are copies of one memory image. */
class SecureRandomnessTest {
  private static final int DRAWS = 200; // More than three batches.
  private static final long CLOCK = 1_700_000_000_000_000L;

  /** The state of an image: its generator draws the same in each copy, in the same nanosecond. */
  private static SecureRandomness copyOfImage() {
    return new SecureRandomness("~app", new Copied(), () -> 42);
  }

  private static List<String> draw(SecureRandomness from) {
    return Stream.generate(from::leaseId).limit(DRAWS).toList();
  }

  @Test
  void copies_withoutConnectionsOfTheirOwn_drawTheSameIds() {
    assertThat(draw(copyOfImage())).isEqualTo(draw(copyOfImage())); // The other tests need this.
  }

  @Test
  void copies_withDifferentConnections_haveNoIdInCommon() {
    SecureRandomness original = copyOfImage();
    SecureRandomness copy = copyOfImage();
    original.probed(0, CLOCK);
    copy.probed(0, CLOCK + 1);
    assertNothingInCommon(draw(original), draw(copy));
  }

  @Test
  void copy_thatHasReconnectedToOneNode_hasNoIdInCommonWithTheOriginal() {
    SecureRandomness original = copyOfImage();
    SecureRandomness copy = copyOfImage();
    for (SecureRandomness each : List.of(original, copy)) {
      each.probed(0, CLOCK);
      each.probed(1, CLOCK);
      each.probed(2, CLOCK);
      assertThat(each.leaseId()).isNotEmpty(); // The image is taken in the middle of a batch.
    }
    copy.probed(1, CLOCK + 7_000_000);
    assertNothingInCommon(draw(original), draw(copy));
  }

  @Test
  void copies_thatLaterHearTheSameFromAnotherNode_stayDifferent() {
    SecureRandomness original = copyOfImage();
    SecureRandomness copy = copyOfImage();
    original.probed(0, CLOCK);
    copy.probed(0, CLOCK + 1);
    original.probed(1, CLOCK);
    copy.probed(1, CLOCK);
    assertNothingInCommon(draw(original), draw(copy));
  }

  @Test
  void copies_ofWhichEachHeardTheTimeOfAnotherNode_haveNoIdInCommon() {
    SecureRandomness original = copyOfImage();
    SecureRandomness copy = copyOfImage();
    original.probed(0, CLOCK);
    copy.probed(1, CLOCK);
    assertNothingInCommon(draw(original), draw(copy));
  }

  @Test
  void copies_thatDrawInDifferentNanoseconds_haveNoIdInCommon() {
    SecureRandomness original = new SecureRandomness("", new Copied(), () -> 42);
    SecureRandomness copy = new SecureRandomness("", new Copied(), () -> 43);
    assertNothingInCommon(draw(original), draw(copy));
  }

  @Test
  void idsDrawnAhead_beforeAConnection_areNotUsedAfterIt() {
    Copied generator = new Copied();
    SecureRandomness randomness = new SecureRandomness("", generator, () -> 42);
    String first = randomness.leaseId();
    assertThat(generator.calls).isEqualTo(1);
    randomness.probed(0, CLOCK);
    assertThat(randomness.leaseId()).isNotEqualTo(first);
    assertThat(generator.calls).as("the rest of the first batch is discarded").isEqualTo(2);
  }

  @Test
  void ids_asBefore_haveOneHundredSixtyBitsAndTheLabel() {
    SecureRandomness randomness =
        new SecureRandomness("~app", new SecureRandom(), System::nanoTime);
    randomness.probed(0, CLOCK);
    Set<String> ids = new HashSet<>(draw(randomness));
    assertThat(ids).hasSize(DRAWS).allMatch(id -> id.matches("[A-Za-z0-9_-]{27}~app"));
  }

  private static void assertNothingInCommon(List<String> some, List<String> others) {
    Set<String> all = new HashSet<>(some);
    all.addAll(others);
    assertThat(all).hasSize(2 * DRAWS);
  }

  /** A generator of which each copy draws the same. */
  @SuppressWarnings("serial")
  private static final class Copied extends SecureRandom {
    private final transient Random source = new Random(7);
    transient int calls;

    @Override
    public void nextBytes(byte[] bytes) {
      calls++;
      source.nextBytes(bytes);
    }
  }
}
