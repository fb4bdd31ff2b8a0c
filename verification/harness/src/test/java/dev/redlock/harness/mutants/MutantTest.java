package dev.redlock.harness.mutants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MutantTest {
  private static final String FILE = "dev/example/One.java";

  @TempDir private Path root;

  @BeforeEach
  void writeSource() throws IOException {
    Files.createDirectories(root.resolve(FILE).getParent());
    Files.writeString(
        root.resolve(FILE),
        """
        package dev.example;
        public class One {
          public static String get() {
            return "";
          }
        }
        """);
  }

  @Test
  void hunt_ofAFaultAndOfNone_reportsWhatCaughtTheFirst() throws Exception {
    Mutant fault = mutant("return \"\";", "return \"a fault\";");
    Mutant error = mutant("return \"\";", "throw new IllegalStateException();");
    Mutant none = mutant("return \"\";", "return \"\" + \"\";");

    assertThat(new MutantHunt(root, MutantTest::get, 2).hunt(List.of(fault, error, none)))
        .extracting(MutantHunt.Outcome::by)
        .containsExactly("a fault", "exception java.lang.IllegalStateException", "");
  }

  @Test
  void textThatOccursNowhereOrTwice_isAnErrorThatNamesMutantAndFile() {
    for (String original : List.of("return 1;", "e")) {
      Mutant mutant = mutant(original, "");
      assertThatThrownBy(() -> mutant.requireFits(root))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("a mutant", FILE);
    }
  }

  private static Mutant mutant(String original, String replacement) {
    return new Mutant("own", "a mutant", "", List.of(new Mutant.Edit(FILE, original, replacement)));
  }

  private static String get(Mutant mutant, Map<String, byte[]> changed) throws Exception {
    ChangedLoader loader = new ChangedLoader(changed, name -> name.startsWith("dev.example."));
    return (String) loader.loadClass("dev.example.One").getMethod("get").invoke(null);
  }
}
