package dev.redlock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodesFileTest {
  @TempDir Path folder;

  @Test
  void urisSettingsAndComments_areRead() throws IOException {
    NodesFile read =
        NodesFile.read(
            file(
                "# three zones",
                "",
                "  redis://a:1  ",
                "rediss://u:p=w@b:2",
                "prefix=orders",
                "max-lease-time = 60s",
                "password-file =  /etc/a b"));

    assertThat(read.uris()).containsExactly("redis://a:1", "rediss://u:p=w@b:2");
    assertThat(read.settings())
        .isEqualTo(
            Map.of("prefix", "orders", "max-lease-time", "60s", "password-file", "/etc/a b"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"redis-1:6379", "password = secret", "prefix", "= x", "prefix = x # ours"})
  void lineWithoutAMeaning_isRefusedByItsNumber_andNotQuoted(String line) throws IOException {
    Path file = file("redis://a:1", line);
    assertThatThrownBy(() -> NodesFile.read(file))
        .isInstanceOf(Failure.class)
        .hasMessageContaining(file + ", line 2:")
        .hasMessageNotContaining("secret");
  }

  @Test
  void settingThatIsGivenTwice_isRefused() throws IOException {
    Path file = file("redis://a:1", "prefix = x", "prefix = y");
    assertThatThrownBy(() -> NodesFile.read(file))
        .isInstanceOf(Failure.class)
        .hasMessageEndingWith("line 3: prefix is set twice");
  }

  @Test
  void markOfAnEditor_isNoPartOfTheFirstLine() throws IOException {
    assertThat(NodesFile.read(file("\uFEFFprefix = x", "redis://a:1")).settings())
        .isEqualTo(Map.of("prefix", "x"));
  }

  @Test
  void fileThatIsAbsent_isNamed() {
    assertThatThrownBy(() -> NodesFile.read(folder.resolve("none")))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("none cannot be read");
  }

  @Test
  void usualPlace_isTheUsersFolder() throws IOException {
    Path file = folder.resolve(".config/redlock/nodes");
    assertThat(NodesFile.usual(Map.of("HOME", folder.toString()))).isNotEqualTo(file);
    Files.createDirectories(file.getParent());
    Files.createFile(file);

    assertThat(NodesFile.usual(Map.of("HOME", folder.toString()))).isEqualTo(file);
    assertThat(NodesFile.usual(Map.of("XDG_CONFIG_HOME", folder.resolve(".config").toString())))
        .isEqualTo(file);
  }

  @Test
  void variableThatIsEmpty_namesNoFile() throws IOException {
    Files.createDirectory(folder.resolve("redlock"));
    Path usual = Files.write(folder.resolve("redlock/nodes"), List.of("nonsense"));
    Map<String, String> empty =
        Map.of("REDLOCK_NODES_FILE", "", "XDG_CONFIG_HOME", folder.toString());
    assertThatThrownBy(() -> new NodeOptions().environment(empty).client((builder, longest) -> {}))
        .hasMessageContaining(usual + ", line 1");
  }

  private Path file(String... lines) throws IOException {
    return Files.write(folder.resolve("nodes"), List.of(lines));
  }
}
