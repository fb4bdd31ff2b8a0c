package dev.redlock.spring.boot;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.RedlockBuilder;
import dev.redlock.lettuce.LettuceOptions;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.StringUtils;

/** The page of all options says what the code says. */
class OptionsPageTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "options.md");
  private static final String DEFAULT = " Default: ";
  private static final Map<String, Class<?>> BUILDERS =
      Map.of(
          "LockOptions", LockOptions.Builder.class,
          "RedlockBuilder", RedlockBuilder.class,
          "LettuceOptions", LettuceOptions.Builder.class);

  @Test
  void page_hasEachPropertyWithItsDefaultAndMeaning() throws IOException {
    String table = properties().map(OptionsPageTest::row).collect(joining("\n"));
    assertThat(Files.readString(PAGE)).contains(table);
  }

  @Test
  void page_hasEachMethodOfABuilder() throws IOException {
    String page = Files.readString(PAGE);
    assertThat(
            BUILDERS.entrySet().stream()
                .flatMap(
                    builder -> options(builder.getValue()).map(o -> builder.getKey() + "." + o)))
        .hasSizeGreaterThan(25)
        .allSatisfy(option -> assertThat(page).contains("`" + option + "`"));
  }

  private static String row(Map<String, Object> property) {
    String name = (String) property.get("name");
    String text = (String) property.get("description");
    int at = text.indexOf(DEFAULT);
    Object value = property.get("defaultValue");
    String standard = at >= 0 ? text.substring(at + DEFAULT.length(), text.length() - 1) : "–";
    return "| `%s` | %s | %s | %s |"
        .formatted(
            name,
            inJava(name),
            value == null ? standard : "`" + value + "`",
            at >= 0 ? text.substring(0, at) : text);
  }

  /** The method that sets the same. */
  private static String inJava(String property) {
    String[] words = property.substring(property.lastIndexOf('.') + 1).split("-");
    String method =
        words[0] + Arrays.stream(words).skip(1).map(StringUtils::capitalize).collect(joining());
    boolean ofALock = property.startsWith("redlock.defaults.");
    boolean ofTheClient = property.indexOf('.') == property.lastIndexOf('.');
    return BUILDERS.entrySet().stream()
        .filter(builder -> ofALock ? builder.getKey().equals("LockOptions") : ofTheClient)
        .filter(builder -> options(builder.getValue()).anyMatch(method::equals))
        .map(builder -> "`" + builder.getKey() + "." + method + "`")
        .findAny()
        .orElse("–");
  }

  private static Stream<String> options(Class<?> builder) {
    return Arrays.stream(builder.getDeclaredMethods())
        .filter(method -> Modifier.isPublic(method.getModifiers()))
        .filter(method -> method.getReturnType() == builder)
        .map(Method::getName)
        .distinct()
        .sorted();
  }

  @SuppressWarnings("unchecked")
  private static Stream<Map<String, Object>> properties() throws IOException {
    try (@Nullable InputStream in =
        RedlockProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      String json = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      Object all = JsonParserFactory.getJsonParser().parseMap(json).get("properties");
      return ((List<Map<String, Object>>) all)
          .stream()
              .filter(property -> ((String) property.get("name")).startsWith("redlock."))
              .sorted(Comparator.comparing(property -> (String) property.get("name")));
    }
  }
}
