package dev.redlock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.testkit.internal.PortReservation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisSourceTest {

  @TempDir Path temp;

  private final Map<String, String> before =
      System.getProperties().stringPropertyNames().stream()
          .filter(key -> key.startsWith("redlock"))
          .collect(Collectors.toMap(key -> key, System::getProperty));

  @AfterEach
  void restoreProperties() {
    for (String key : List.copyOf(System.getProperties().stringPropertyNames())) {
      if (key.startsWith("redlock") && !before.containsKey(key)) {
        System.clearProperty(key);
      }
    }
    before.forEach(System::setProperty);
  }

  @ParameterizedTest
  @CsvSource({
    "Linux,amd64,linux-amd64",
    "Linux,aarch64,linux-arm64",
    "Linux,i386,linux-386",
    "Mac OS X,aarch64,darwin-arm64",
    "Mac OS X,x86_64,darwin-amd64",
    "Windows 11,amd64,windows_11-amd64",
    "Linux,riscv64,linux-riscv64"
  })
  void platform_javasNames_areThoseOfTheJar(String os, String arch, String expected) {
    assertThat(EmbeddedBinary.platform(os, arch)).isEqualTo(expected);
  }

  @Test
  void embedded_platformWithoutBinary_saysWhichThereAre() {
    assertThatThrownBy(() -> EmbeddedBinary.read("windows_11-amd64"))
        .hasMessageContaining("no binary for this platform: redis-server-7.0.15-windows_11-amd64")
        .hasMessageContaining("macOS");
  }

  @Test
  void copyToCache_raced_leavesOneWholeExecutable() throws Exception {
    byte[] program = "#!/bin/sh\necho hi\n".repeat(50_000).getBytes(StandardCharsets.UTF_8);
    List<CompletableFuture<Path>> copies = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      copies.add(
          CompletableFuture.supplyAsync(
              () -> unchecked(() -> EmbeddedBinary.copyToCache(program, temp.resolve("a/b")))));
    }
    for (CompletableFuture<Path> copy : copies) {
      assertThat(copy.get()).hasBinaryContent(program).isExecutable();
    }
    try (var files = Files.list(temp.resolve("a/b"))) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void copyToCache_truncatedCopyFound_isReplaced() throws Exception {
    byte[] program = "whole".getBytes(StandardCharsets.UTF_8);
    Path copy = EmbeddedBinary.copyToCache(program, temp);
    Files.writeString(copy, "who");

    assertThat(EmbeddedBinary.copyToCache(program, temp)).hasBinaryContent(program);
  }

  @Test
  void copyToCache_notWritable_saysHowToChooseAnother() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));
    assertThatThrownBy(() -> EmbeddedBinary.copyToCache(new byte[1], file))
        .hasMessageContaining("-Dredlock.redis.cache");
  }

  @Test
  void auto_nothingSet_isTheEmbeddedBinary() {
    System.clearProperty(RedisSource.PROPERTY);
    try (RedisNodes nodes = RedisNodes.builder().count(1).start()) {
      assertThat(nodes.source()).contains("redlock-testkit").contains("Redis server v=7.0.15");
    }
  }

  @Test
  void auto_binaryNamed_isTakenAndNothingElseTried() throws Exception {
    Path embedded = EmbeddedBinary.locate();
    Path own = Files.copy(embedded, temp.resolve("my-redis"));
    System.setProperty(RedisSource.BINARY_PROPERTY, own.toString());
    try (RedisNodes nodes = RedisNodes.start(1)) {
      assertThat(nodes.source()).startsWith(own.toString());
    }

    System.setProperty(RedisSource.BINARY_PROPERTY, temp.resolve("absent").toString());
    assertThatThrownBy(() -> RedisNodes.start(1))
        .isInstanceOf(RedisStartException.class)
        .hasMessageContaining("named program: " + temp.resolve("absent"))
        .hasMessageNotContaining("embedded");
  }

  @Test
  void binary_namedByTheTest_isTaken() throws Exception {
    Path own = Files.copy(EmbeddedBinary.locate(), temp.resolve("my redis"));
    try (RedisNodes nodes = RedisNodes.builder().count(1).binary(own).start()) {
      assertThat(nodes.get(0).command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void binary_thatDoesNotRunHere_failsWithItsMessage() throws IOException {
    Path broken = script("#!/bin/sh\necho 'wrong libc' >&2\nexit 1\n");
    assertThatThrownBy(() -> RedisNodes.builder().binary(broken).start())
        .isInstanceOf(RedisStartException.class)
        .hasMessageContaining("wrong libc");
  }

  @Test
  void search_path_findsTheFirstExecutable() throws Exception {
    Path first = Files.createDirectories(temp.resolve("first"));
    Path second = Files.createDirectories(temp.resolve("second"));
    Files.writeString(first.resolve("redis-server"), "not executable");
    Path wanted = second.resolve("valkey-server");
    Files.move(script("#!/bin/sh\n"), wanted);

    assertThat(BinarySource.search("/none::" + first + ":" + second)).isEqualTo(wanted);
    assertThatThrownBy(() -> BinarySource.search(first.toString()))
        .hasMessage("neither redis-server nor valkey-server on the PATH");
  }

  @Test
  void uri_givenServers_areUsedAndCannotBeKilled() {
    try (RedisNodes own = RedisNodes.builder().count(2).password("pw").start()) {
      own.get(0).command("SET", "elsewhere", "v");
      System.setProperty(RedisSource.URIS_PROPERTY, own.get(0).uri() + "/3 , " + own.get(1).uri());
      try (RedisNodes given = RedisNodes.builder().count(2).gated(true).start()) {
        RedisNode node = given.get(0);
        node.command("SET", "k", "v");
        assertThat(own.get(0).command("GET", "k")).isNull();
        assertThat(node.uri()).endsWith(":" + node.gate().port() + "/3").contains(":pw@");
        assertThatThrownBy(node::kill)
            .isInstanceOf(UnsupportedOperationException.class)
            .hasMessageContaining("given by URI");
        node.flush();
        assertThat(node.keys()).isEmpty();
        assertThat(node.describe()).contains("given by URI").doesNotContain("pw");
      }
      assertThat(own.get(0).command("GET", "elsewhere")).isEqualTo("v");

      assertThatThrownBy(() -> RedisNodes.start(3))
          .isInstanceOf(RedisStartException.class)
          .hasMessage("3 nodes configured, but only 2 URIs given");
    }
  }

  @Test
  void uri_withoutServer_failsWithTheAddress() {
    try (PortReservation silent = PortReservation.any()) {
      System.setProperty(RedisSource.URIS_PROPERTY, "redis://:pw@127.0.0.1:" + silent.port());
      assertThatThrownBy(() -> RedisNodes.start(1))
          .isInstanceOf(RedisStartException.class)
          .hasMessage("No Redis replies at the given address 127.0.0.1:" + silent.port());
    }
  }

  @Test
  void uri_malformed_isRefusedWithoutShowingThePassword() {
    System.setProperty(RedisSource.URIS_PROPERTY, "rediss://:secret@host:1");
    assertThat(RedisSource.URI.whyUnavailable())
        .hasValueSatisfying(
            reason -> assertThat(reason).contains("rediss").doesNotContain("secret"));
  }

  @Test
  void configured_unknownName_isRefusedWithTheChoices() {
    System.setProperty(RedisSource.PROPERTY, "magic");
    assertThatThrownBy(() -> RedisNodes.start(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("-Dredlock.redis=magic is not one of auto, embedded, path, docker, uri");
  }

  @Test
  void nothingWorked_severalTried_areToldInOrder() {
    assertThat(RedisStartException.nothingWorked(List.of("a: no", "b: no either")))
        .hasMessage("No Redis server found. Tried, in this order:\n  - a: no\n  - b: no either");
  }

  private Path script(String text) throws IOException {
    Path script = Files.writeString(temp.resolve("script"), text);
    return Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private static <T> T unchecked(Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
