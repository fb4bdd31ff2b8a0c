package dev.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** How the packages of core depend on each other, and what they export. */
class PackagesTest {
  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPath(Path.of("target/classes"));

  /**
   * The only uses against the direction of the other dependencies. The page {@code architecture.md}
   * gives the reason for each of them.
   */
  private static final Set<String> ARGUED =
      Set.of("dev.redlock.RedlockBuilder -> dev.redlock.internal.Assembly");

  private final Map<String, Set<String>> uses = new TreeMap<>();
  private final Set<String> argued = new TreeSet<>();

  @Test
  void packages_dependOnEachOtherInOneDirection_exceptWhereItIsArgued() {
    for (JavaClass type : CORE) {
      for (Dependency d : type.getDirectDependenciesFromSelf()) {
        add(type, d.getTargetClass().getBaseComponentType());
      }
    }
    uses.keySet()
        .forEach(from -> assertThat(reached(from)).as("cycle of " + from).doesNotContain(from));
    assertThat(argued).as("exceptions that are still needed").isEqualTo(new TreeSet<>(ARGUED));
  }

  private void add(JavaClass from, JavaClass to) {
    String source = from.getPackageName();
    String target = to.getPackageName();
    if (source.equals(target) || !target.startsWith("dev.redlock")) {
      return;
    }
    String types = top(from) + " -> " + top(to);
    String packages = source + " -> " + target;
    if (ARGUED.contains(types) || ARGUED.contains(packages)) {
      argued.add(ARGUED.contains(types) ? types : packages);
    } else {
      uses.computeIfAbsent(source, p -> new TreeSet<>()).add(target);
    }
  }

  private static String top(JavaClass type) {
    String name = type.getName();
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }

  /** The packages that this one uses, and those that they use. */
  private Set<String> reached(String from) {
    Set<String> reached = new TreeSet<>();
    Set<String> next = uses.getOrDefault(from, Set.of());
    while (!next.isEmpty()) {
      Set<String> found = new TreeSet<>();
      next.stream().filter(reached::add).forEach(p -> found.addAll(uses.getOrDefault(p, Set.of())));
      next = found;
    }
    return reached;
  }

  /** A type that is exported is a promise: it may be added, but not by accident. */
  @Test
  void exportedTypes_areThoseOfTheList() throws IOException {
    Set<String> exported =
        CORE.stream()
            .filter(
                type ->
                    Set.of("dev.redlock", "dev.redlock.operations", "dev.redlock.spi")
                        .contains(type.getPackageName()))
            .filter(PackagesTest::isPublic)
            .map(JavaClass::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    Path list = Path.of("src/test/resources/exported-types.txt");
    assertThat(exported)
        .as("types that " + list + " must list")
        .hasSameElementsAs(Files.readAllLines(list));
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(PackagesTest::isPublic).orElse(true);
  }
}
