package dev.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.spi.LockNode;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ServiceConfigurationError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The builder of core alone: its tests have no adapter on the class path. */
class RedlockBuilderTest {

  @Test
  void nodesOfUris_withoutAnAdapter_areRejectedWithTheModuleThatIsMissing() {
    assertThatThrownBy(Redlock.builder().nodes("redis://127.0.0.1:1")::build)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("found []")
        .hasMessageContaining("dev.redlock:redlock-lettuce");
  }

  @Test
  void nodesOfUris_adapterThatCannotBeLoaded_areRejectedWithItsName(@TempDir Path folder)
      throws IOException {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(LockNode.Factory.class.getName()), "com.example.GoneAdapter");
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      assertThatThrownBy(Redlock.builder().nodes("redis://127.0.0.1:1")::build)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("cannot be loaded")
          .hasMessageContaining("com.example.GoneAdapter")
          .hasCauseInstanceOf(ServiceConfigurationError.class);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void noNodesAtAll_isRejectedForThat_andNotForAMissingAdapter() {
    assertThatThrownBy(Redlock.builder()::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 are configured");
  }

  @Test
  void defaults_afterALeaseTime_doNotEraseIt() {
    Duration ten = Duration.ofSeconds(10);
    LockOptions fair = LockOptions.builder().fair(true).leaseTime(Duration.ofSeconds(5)).build();
    LockOptions after = Redlock.builder().leaseTime(ten).defaults(fair).parts().defaults();
    LockOptions before = Redlock.builder().defaults(fair).leaseTime(ten).parts().defaults();
    assertThat(after.leaseTime()).isEqualTo(ten);
    assertThat(after.fair()).isTrue();
    assertThat(before).hasToString(after.toString());
    assertThat(Redlock.builder().defaults(fair).parts().defaults().leaseTime())
        .isEqualTo(Duration.ofSeconds(5));
  }
}
