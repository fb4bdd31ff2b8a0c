package dev.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What GraalVM's native-image cannot find by itself is in {@code META-INF/native-image}: resources
 * and reflection. Without it the client would fail in a native image only.
 */
class NativeImageTest {
  private static final String METADATA = "/META-INF/native-image/dev.redlock/";

  private static final List<String> MODULES =
      List.of(
          "redlock-core",
          "redlock-redis",
          "redlock-lettuce",
          "redlock-election",
          "redlock-cluster-adapter",
          "redlock-vertx",
          "redlock-micrometer");

  /** Calls that native-image does not follow. It finds services by itself. */
  private static final Pattern HIDDEN =
      Pattern.compile(
          "Class\\.forName|\\.getResource(s|AsStream)?\\([^)]|\\.getMethod\\(|getDeclared|newProxyInstance"
              + "|setAccessible|FieldUpdater|findVarHandle");

  private static String reflection() throws IOException {
    return read("redlock-core/reflect-config.json") + read("redlock-lettuce/reflect-config.json");
  }

  private static String resources() throws IOException {
    return read("redlock-redis/resource-config.json")
        + read("redlock-lettuce/resource-config.json");
  }

  private static String read(String file) throws IOException {
    try (InputStream in = NativeImageTest.class.getResourceAsStream(METADATA + file)) {
      assertThat(in).as(file).isNotNull();
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  private static List<String> values(String json, String key) {
    List<String> values = new ArrayList<>();
    Matcher found = Pattern.compile("\"" + key + "\":\\s*\"([^\"]*)\"").matcher(json);
    while (found.find()) {
      values.add(found.group(1).replace("\\\\", "\\"));
    }
    return values;
  }

  private static List<Path> sources(String module, String directory) throws IOException {
    Path integration = Path.of("..", "integrations", module.substring("redlock-".length()));
    Path home = Files.isDirectory(integration) ? integration : Path.of("..", module);
    Path root = home.resolve(Path.of("src", "main", directory));
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void eachResourceOfTheJar_isIncluded() throws IOException {
    List<String> patterns = values(resources(), "pattern");
    Path root = Path.of("src", "main", "resources");
    Set<String> resources = new TreeSet<>();
    for (Path file : sources("redlock-redis", "resources")) {
      String name = Path.of("..", "redlock-redis").resolve(root).relativize(file).toString();
      if (!name.startsWith("META-INF")) {
        resources.add(name.replace('\\', '/'));
      }
    }
    assertThat(resources).hasSizeGreaterThanOrEqualTo(6);
    assertThat(resources).allMatch(name -> patterns.stream().anyMatch(name::matches));
    assertThat("META-INF/io.netty.versions.properties")
        .matches(name -> patterns.stream().anyMatch(name::matches));
    assertThat(sources("redlock-core", "resources"))
        .allMatch(f -> f.toString().contains("META-INF"));
    assertThat(sources("redlock-lettuce", "resources"))
        .allMatch(f -> f.toString().contains("META-INF"));
    assertThat(sources("redlock-election", "resources")).isEmpty();
    assertThat(sources("redlock-cluster-adapter", "resources")).isEmpty();
    assertThat(sources("redlock-vertx", "resources")).isEmpty();
  }

  @Test
  void reflectionAndResources_areUsedByTheClassesThatTheMetadataNames() throws IOException {
    Set<String> users = new TreeSet<>();
    for (String module : MODULES) {
      for (Path file : sources(module, "java")) {
        if (HIDDEN.matcher(Files.readString(file)).find()) {
          users.add(String.valueOf(file.getFileName()));
        }
      }
    }
    Set<String> named = new TreeSet<>();
    for (String type : values(reflection() + resources(), "typeReachable")) {
      named.add(type.substring(type.lastIndexOf('.') + 1) + ".java");
    }
    assertThat(users).isEqualTo(named);
  }

  @Test
  void eachConditionAndEachReflectiveCall_existsInThisVersionOfLettuce() throws Exception {
    String json = reflection();
    for (String type : values(json + resources(), "typeReachable")) {
      assertThat(Class.forName(type)).isNotNull();
    }
    Set<String> calls = new TreeSet<>();
    Matcher entry =
        Pattern.compile(
                "\"name\":\\s*\"(io[^\"]*)\",\\s*\"methods\":\\s*\\[\\s*\\{\\s*"
                    + "\"name\":\\s*\"(\\w+)\",\\s*\"parameterTypes\":\\s*\\[([^\\]]*)\\]")
            .matcher(json);
    while (entry.find()) {
      List<Class<?>> parameters = new ArrayList<>();
      for (String name : entry.group(3).replace("\"", "").split(",", -1)) {
        if (!name.isBlank()) {
          parameters.add(Class.forName(name.strip()));
        }
      }
      calls.add(
          String.valueOf(
              Class.forName(entry.group(1))
                  .getMethod(entry.group(2), parameters.toArray(Class<?>[]::new))
                  .getName()));
    }
    assertThat(calls).hasSize(2);
  }

  /** The methods, by the words in which sources and metadata name them. */
  @Test
  void eachMethodCalledByReflection_isNamedInTheMetadata() throws IOException {
    StringBuilder code = new StringBuilder();
    for (String module : MODULES) {
      for (Path file : sources(module, "java")) {
        code.append(Files.readString(file));
      }
    }
    Set<String> called = words("getMethod\\(\\s*\"(\\w+)\"", code);
    assertThat(called).contains("ofVirtual", "maintNotificationsConfig");
    assertThat(words("\"name\":\\s*\"(\\w+)\",\\s*\"parameterTypes\"", reflection()))
        .isEqualTo(called);
  }

  private static Set<String> words(String pattern, CharSequence text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(toCollection(TreeSet::new));
  }
}
