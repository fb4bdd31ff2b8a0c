package dev.redlock.election;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/** What the shape of the code promises and a compiler does not check. */
@AnalyzeClasses(
    packages = "dev.redlock.election",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule election_readsNoClock =
      noClasses()
          .should()
          .accessTargetWhere(describe("reads a clock", ArchitectureTest::readsClock))
          .because("time is that of the client, which a test or the simulator may replace");

  @ArchTest
  static final ArchRule election_neverBlocksAThread =
      noClasses()
          .should()
          .accessTargetWhere(describe("waits for a future or parks", ArchitectureTest::blocks))
          .because("only the client makes a thread wait, where a caller asked for that");

  @ArchTest
  static final ArchRule election_knowsNoNodes =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.redlock.lettuce..", "io.lettuce..", "io.netty..", "reactor..")
          .because("an election works with any node, and runs without Redis in the simulator");

  private static final Set<String> EXPORTED_HERE =
      Set.of("dev.redlock.internal.election", "dev.redlock.internal.text");

  @ArchTest
  static final ArchRule election_usesTheClientThroughItsApiAndThePort =
      noClasses()
          .should()
          .dependOnClassesThat(
              describe(
                  "internal to core, except the port and the texts",
                  type ->
                      type.getPackageName().startsWith("dev.redlock.internal")
                          && !EXPORTED_HERE.contains(type.getPackageName())))
          .because("core exports no other internal package to this module");

  @ArchTest
  static final ArchRule api_usesNoLibrary =
      noClasses()
          .that()
          .arePublic()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("com.google..", "org.slf4j..")
          .because("an application must be free to choose its own versions");

  /** A type that is exported is a promise: it may be added, but not by accident. */
  @ArchTest
  static void exportedTypes_areTheElectionAndItsParts(JavaClasses classes) {
    assertThat(classes.stream().filter(ArchitectureTest::isPublic).map(JavaClass::getSimpleName))
        .containsExactlyInAnyOrder(
            "LeaderElection", "Builder", "Listener", "State", "StopReason", "Task", "Work");
  }

  private static boolean readsClock(JavaAccess<?> access) {
    return (access.getTargetOwner().isEquivalentTo(System.class)
            && Set.of("nanoTime", "currentTimeMillis").contains(access.getName()))
        || (access.getTargetOwner().getPackageName().startsWith("java.time")
            && Set.of("now", "systemUTC", "systemDefaultZone").contains(access.getName()));
  }

  private static boolean blocks(JavaAccess<?> access) {
    JavaClass owner = access.getTargetOwner();
    return switch (access.getName()) {
      case "get", "join" -> owner.isAssignableTo(Future.class);
      case "sleep" -> owner.isEquivalentTo(Thread.class);
      case "wait" -> owner.isEquivalentTo(Object.class);
      default ->
          owner.isEquivalentTo(LockSupport.class)
              || (access.getName().startsWith("await")
                  && owner.getPackageName().startsWith("java.util.concurrent"));
    };
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(ArchitectureTest::isPublic).orElse(true);
  }
}
