package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockReader.Page;
import dev.redlock.spi.LockReader.StoredLock;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a node replies to a listing. */
class ScriptReaderTest {

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  @Test
  void fence_thatNoClientWrote_doesNotEndTheListing() {
    Page page =
        ScriptReader.page(
            List.of(
                bytes("0"),
                bytes("redlock:{foreign}"),
                5L,
                bytes("99999999999999999999"),
                0L,
                bytes("0123abcd"),
                bytes("redlock:{own}"),
                7L,
                bytes("9007199254740991"),
                1L,
                bytes("0123abcd~pod")));
    assertThat(page.isLast()).isTrue();
    assertThat(page.locks())
        .extracting(StoredLock::lockKey, StoredLock::fence)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("redlock:{foreign}", 0L),
            org.assertj.core.groups.Tuple.tuple("redlock:{own}", 9007199254740991L));
  }
}
