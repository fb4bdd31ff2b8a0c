package dev.redlock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PreloadTest {
  static Stream<String> names() {
    return Stream.of(Preload.CONNECTION, Preload.INITIALISED, Preload.LOCK, Preload.ANNOTATED)
        .flatMap(List::stream);
  }

  /** A name that does not exist is passed over in silence, and saves nothing. */
  @ParameterizedTest
  @MethodSource("names")
  void name_isThatOfAClass(String name) {
    assertThatCode(() -> Class.forName(name, false, PreloadTest.class.getClassLoader()))
        .doesNotThrowAnyException();
  }

  @Test
  void logging_isReady_evenForACallerThatIsInterrupted() {
    Preload preload = Preload.begin();
    Thread.currentThread().interrupt();

    preload.awaitLogging();

    assertThat(Thread.interrupted()).isTrue();
  }
}
