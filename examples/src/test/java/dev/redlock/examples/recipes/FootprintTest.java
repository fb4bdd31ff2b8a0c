package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class FootprintTest {
  @Tag("thorough")
  @Test
  void lock_onAMaster_costsLessThanAKibibyte() {
    Footprint.Bytes bytes = Footprint.measure(line -> {});

    assertThat(bytes.held()).isBetween(200L, 1_024L);
    assertThat(bytes.idle()).isBetween(50L, bytes.held());
    assertThat(bytes.received()).isBetween(100L, 1_024L);
    assertThat(bytes.sent()).isBetween(20L, 1_024L);
    assertThat(bytes.waiting()).isBetween(100L, 1_024L);
  }
}
