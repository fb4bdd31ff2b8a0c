package dev.redlock;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.redlock.spi.Time;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the shape of the code promises and a compiler does not check. */
@AnalyzeClasses(packages = "dev.redlock", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  /** The protocol, and the values that it shares with operators. */
  private static final String[] PROTOCOL = {
    "dev.redlock.internal.protocol..", "dev.redlock.internal.sets.."
  };

  /**
   * The only classes that may make a thread wait for a future: where a caller asked for a blocking
   * call. Each entry is a class name; nested classes are included.
   */
  private static final Set<String> MAY_BLOCK = Set.of("dev.redlock.internal.Blocking");

  /** Parks a thread in the JVM's way, or in the simulator's. */
  private static final String PLATFORM = "dev.redlock.internal.Platform";

  @ArchTest
  static final ArchRule protocol_isPure =
      noClasses()
          .that()
          .resideInAnyPackage(PROTOCOL)
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "java.util.concurrent..",
                      "java.util.logging..",
                      "java.util.random..",
                      "java.io..",
                      "java.net..",
                      "java.nio.channels..",
                      "java.nio.file..",
                      "org.slf4j..",
                      "com.google.common.util.concurrent..",
                      "dev.redlock.internal")
                  .or(assignableTo(Thread.class))
                  .or(assignableTo(ThreadLocal.class))
                  .or(assignableTo(Timer.class))
                  .or(assignableTo(Clock.class))
                  .or(assignableTo(Time.class))
                  .or(assignableTo(Random.class))
                  .or(assignableTo(System.Logger.class)))
          .because(
              "the simulator runs these classes with virtual time and a seed; whatever they reach"
                  + " for by themselves it cannot control")
          .allowEmptyShould(true);

  @ArchTest
  static final ArchRule protocol_neitherReadsAClockNorRollsDice =
      noClasses()
          .that()
          .resideInAnyPackage(PROTOCOL)
          .should()
          .accessTargetWhere(clockIsRead().or(diceAreRolled()))
          .because("time and randomness are arguments there; otherwise no seed repeats a history")
          .allowEmptyShould(true);

  /** Their volatile fields are read by any thread that asks whether a lease is valid. */
  private static final Set<String> READ_BY_ANY_THREAD =
      Set.of("dev.redlock.internal.protocol.Grant", "dev.redlock.internal.protocol.HeldLease");

  @ArchTest
  static final ArchRule protocol_hasNoVolatileFields_butThoseOfALease =
      noFields()
          .that()
          .areDeclaredInClassesThat(
              resideInAnyPackage(PROTOCOL)
                  .and(
                      describe(
                          "are not of a lease",
                          type -> !READ_BY_ANY_THREAD.contains(type.getName()))))
          .should()
          .haveModifier(JavaModifier.VOLATILE)
          .because("each machine runs on one serial queue; what queues share is behind Nodes");

  @Test
  void protocol_hasNoMonitors() throws IOException {
    for (Path file : pureFiles()) {
      String code = TEXT.matcher(Files.readString(file)).replaceAll("");
      assertThat(code).as(file.toString()).doesNotContainPattern("\\bsynchronized\\b");
    }
  }

  @ArchTest
  static final ArchRule clocks_areReadInOnePlace =
      noClasses()
          .that(are(DescribedPredicate.not(assignableTo(Time.class))))
          .should()
          .accessTargetWhere(clockIsRead())
          .because("a test that moves Time must move everything, and deadlines must not mix clocks")
          .allowEmptyShould(true);

  @ArchTest
  static final ArchRule core_neverWaitsForAFuture =
      noClasses()
          .that(
              are(DescribedPredicate.not(describe("allowed to block", ArchitectureTest::mayBlock))))
          .should()
          .accessTargetWhere(
              describe(
                  "waits for a future or sleeps",
                  call ->
                      (call.getTargetOwner().isAssignableTo(Future.class)
                              && Set.of("get", "join").contains(call.getName()))
                          || (call.getTargetOwner().isEquivalentTo(Thread.class)
                              && call.getName().equals("sleep"))))
          .because("a wait on an I/O or timer thread stops every lock of the process")
          .allowEmptyShould(true);

  @ArchTest
  static final ArchRule threads_arePutToSleepInOnePlace =
      noClasses()
          .that(
              are(DescribedPredicate.not(describe("allowed to block", ArchitectureTest::mayBlock))))
          .and()
          .doNotHaveFullyQualifiedName(PLATFORM)
          .should()
          .accessTargetWhere(
              describe(
                  "parks, or waits on a monitor, latch or condition",
                  call ->
                      (call.getName().startsWith("park")
                              && (call.getTargetOwner().isEquivalentTo(LockSupport.class)
                                  || call.getTargetOwner().getName().equals(PLATFORM)))
                          || (call.getName().equals("wait")
                              && call.getTargetOwner().isEquivalentTo(Object.class))
                          || (call.getName().startsWith("await")
                              && call.getTargetOwner()
                                  .getPackageName()
                                  .startsWith("java.util.concurrent"))))
          .because("only there it is sure that nothing is locked meanwhile");

  @Test
  void classesInWhichCallersWait_neverLockAMonitor_soThatVirtualThreadsLetGoOfTheirCarriers() {
    Set<Class<?>> waiting =
        new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("dev.redlock")
                .stream()
                .filter(
                    type -> type.getAccessesFromSelf().stream().anyMatch(ArchitectureTest::isWait))
                .map(JavaClass::reflect)
                .collect(Collectors.toSet());
    assertThat(waiting).hasSizeGreaterThanOrEqualTo(3); // Locks, leases, the client.
    for (Class<?> type : waiting) {
      assertThat(source(type)).as(type.getName()).doesNotContain("synchronized");
    }
  }

  private static final int METHOD_LINES = 40;
  private static final int METHOD_BRANCHES = 12;

  /**
   * Rough, but enough to detect growth: comments and literals are removed, then text is counted.
   */
  @Test
  void methodsOfTheProtocol_fitAScreen() throws IOException {
    List<String> tooLarge = new ArrayList<>();
    for (Path file : pureFiles()) {
      measureMethods(file.getFileName().toString(), Files.readString(file), tooLarge);
    }
    assertThat(tooLarge)
        .as(
            "in the protocol a method has at most %d lines and a complexity of at most %d: 1 for the method, and 1 for each if, for, while,"
                + " case, catch, &&, || and ?:. Move a part with a name of its own out",
            METHOD_LINES, METHOD_BRANCHES)
        .isEmpty();
  }

  private static List<Path> pureFiles() throws IOException {
    List<Path> found = new ArrayList<>();
    for (String name : List.of("protocol", "sets")) {
      try (Stream<Path> files = Files.list(Path.of("src/main/java/dev/redlock/internal", name))) {
        files.sorted().forEach(found::add);
      }
    }
    return found;
  }

  private static final Pattern TEXT =
      Pattern.compile(
          "/\\*.*?\\*/|//[^\n]*|\"(\\\\.|[^\"\\\\])*\"|'(\\\\.|[^'\\\\])*'", Pattern.DOTALL);
  private static final Pattern TYPE = Pattern.compile("\\b(class|interface|record|enum)\\b");
  private static final Pattern BRANCH =
      Pattern.compile("\\b(if|for|while|case|catch)\\b|&&|\\|\\|| \\? ");

  /** A block is a method if it lies directly in the body of a type. */
  private static void measureMethods(String file, String text, List<String> tooLarge) {
    String code =
        TEXT.matcher(text)
            .replaceAll(m -> "\n".repeat((int) m.group().chars().filter(c -> c == '\n').count()));
    Deque<String> open = new ArrayDeque<>();
    Deque<Integer> starts = new ArrayDeque<>();
    int start = 0;
    for (int i = 0; i < code.length(); i++) {
      char c = code.charAt(i);
      if (c == '{') {
        String head = code.substring(start, i);
        boolean type = TYPE.matcher(head).find();
        open.push(type ? "type" : "type".equals(open.peek()) ? head.strip() : "");
        starts.push(i - head.stripLeading().length());
      } else if (c == '}') {
        String method = open.pop();
        measure(file, method, code.substring(starts.pop(), i), tooLarge);
      }
      if (c == '{' || c == '}' || c == ';') {
        start = i + 1;
      }
    }
  }

  private static void measure(String file, String method, String code, List<String> tooLarge) {
    if (method.isEmpty() || method.equals("type")) {
      return;
    }
    long lines = code.lines().count();
    long branches = 1 + BRANCH.matcher(code).results().count();
    if (lines > METHOD_LINES || branches > METHOD_BRANCHES) {
      tooLarge.add(file + ": " + method + ": " + lines + " lines, complexity " + branches);
    }
  }

  private static boolean isWait(JavaAccess<?> access) {
    return MAY_BLOCK.contains(access.getTargetOwner().getName());
  }

  private static String source(Class<?> type) {
    try {
      return Files.readString(Path.of("src/main/java", type.getName().replace('.', '/') + ".java"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ArchTest
  static final ArchRule ports_dependOnNothingThatImplementsThem =
      noClasses()
          .that()
          .resideInAPackage("dev.redlock.spi..")
          .should()
          .dependOnClassesThat(
              resideInAPackage("dev.redlock.internal..")
                  .and(DescribedPredicate.not(resideInAPackage("dev.redlock.internal.text"))))
          .because("adapters are written against the ports alone");

  @ArchTest
  static final ArchRule api_showsNoTypeOfALibrary =
      classes()
          .that()
          .resideInAnyPackage("dev.redlock", "dev.redlock.operations", "dev.redlock.spi")
          .should(showOnlyTypesOutside("com.google.", "org.slf4j."))
          .because("an application must be free to choose its own versions");

  // Accesses rather than calls: System::nanoTime reads a clock as well.
  private static DescribedPredicate<JavaAccess<?>> clockIsRead() {
    return describe(
        "reads a clock",
        call ->
            (call.getTargetOwner().isEquivalentTo(System.class)
                    && Set.of("nanoTime", "currentTimeMillis").contains(call.getName()))
                || (call.getTargetOwner().getPackageName().startsWith("java.time")
                    && Set.of("now", "systemUTC", "systemDefaultZone").contains(call.getName())));
  }

  private static DescribedPredicate<JavaAccess<?>> diceAreRolled() {
    return describe(
        "is random",
        call ->
            call.getTargetOwner().getPackageName().startsWith("java.")
                && Set.of("random", "randomUUID", "shuffle").contains(call.getName()));
  }

  private static boolean mayBlock(JavaClass type) {
    return MAY_BLOCK.stream()
        .anyMatch(name -> type.getName().equals(name) || type.getName().startsWith(name + "$"));
  }

  /** Checks what a class in another module can see: supertypes, and types of public members. */
  private static ArchCondition<JavaClass> showOnlyTypesOutside(String... packages) {
    return new ArchCondition<>("show no type of " + List.of(packages)) {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        if (!isVisible(type)) {
          return;
        }
        Stream<JavaType> supertypes =
            Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
        report(type, type.getFullName(), supertypes, events);
        for (JavaMember member : type.getMembers()) {
          if (isOpen(member.getModifiers())) {
            report(type, member.getFullName(), signature(member), events);
          }
        }
      }

      private void report(
          JavaClass type, String place, Stream<JavaType> shown, ConditionEvents events) {
        shown
            .flatMap(t -> t.getAllInvolvedRawTypes().stream())
            .filter(raw -> Stream.of(packages).anyMatch(raw.getName()::startsWith))
            .distinct()
            .forEach(
                raw ->
                    events.add(
                        SimpleConditionEvent.violated(type, place + " shows " + raw.getName())));
      }
    };
  }

  private static Stream<JavaType> signature(JavaMember member) {
    if (member instanceof JavaCodeUnit unit) {
      return Stream.concat(Stream.of(unit.getReturnType()), unit.getParameterTypes().stream());
    }
    return Stream.of(((JavaField) member).getType());
  }

  private static boolean isVisible(JavaClass type) {
    return isOpen(type.getModifiers())
        && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
  }

  private static boolean isOpen(Set<JavaModifier> modifiers) {
    return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
  }
}
