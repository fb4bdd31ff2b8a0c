package dev.redlock.lettuce;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noCodeUnits;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the shape of the adapter and of redlock-redis promises and a compiler does not check. */
@AnalyzeClasses(
    packages = {"dev.redlock.lettuce", "dev.redlock.redis"},
    importOptions = ImportOption.DoNotIncludeTests.class)
class LettuceArchitectureTest {

  @ArchTest
  static final ArchRule adapter_isWrittenAgainstThePortsAlone =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("dev.redlock", "dev.redlock.internal..")
                  .and(not(resideInAPackage("dev.redlock.internal.text"))))
          .because("an adapter for another client of Redis can do the same with what core exports");

  @ArchTest
  static final ArchRule clocks_areNeverReadDirectly =
      noClasses()
          .should()
          .accessTargetWhere(
              describe(
                  "reads a clock",
                  call ->
                      (Set.of("nanoTime", "currentTimeMillis").contains(call.getName())
                              && call.getTargetOwner().isEquivalentTo(System.class))
                          || (call.getName().equals("now")
                              && call.getTargetOwner().getPackageName().startsWith("java.time"))
                          || call.getTargetOwner().isAssignableTo(Clock.class)))
          .because(
              "a test that moves Time must move everything, and deadlines must not mix clocks");

  @ArchTest
  static final ArchRule threads_neverWait =
      noClasses()
          .that()
          .doNotHaveSimpleName("CleanThreads") // Waits once for each thread, until it is made.
          .should()
          .accessTargetWhere(
              describe("waits for a future, or sleeps", LettuceArchitectureTest::waits))
          .because("a wait on an I/O or timer thread stops every lock of the process");

  @ArchTest
  static final ArchRule lettuce_isNeverUsedSynchronously =
      noClasses()
          .should()
          .accessTargetWhere(
              describe(
                  "is sync() of Lettuce",
                  call ->
                      call.getName().equals("sync")
                          && call.getTargetOwner().getPackageName().startsWith("io.lettuce.")))
          .because("called on one of Lettuce's own threads it waits for itself until it times out");

  @ArchTest
  static final ArchRule signatures_showNoLibraryButLettuce =
      noCodeUnits()
          .that()
          .areDeclaredInClassesThat(describe("exported", LettuceArchitectureTest::isExported))
          .and()
          .arePublic()
          .should()
          .haveRawReturnType(resideInAnyPackage("com.google..", "io.netty..", "reactor.."))
          .orShould()
          .haveRawParameterTypes(
              describe(
                  "of Guava, Netty or Reactor",
                  types ->
                      types.stream()
                          .anyMatch(resideInAnyPackage("com.google..", "io.netty..", "reactor.."))))
          .because("ClientResources are the users' to pass in; what Lettuce is built on is not");

  /** A type that is exported is a promise: it may be added, but not by accident. */
  @Test
  void exportedTypes_areThoseOfTheList() {
    JavaClasses all =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.redlock.lettuce");
    assertThat(
            all.stream()
                .filter(LettuceArchitectureTest::isExported)
                .map(JavaClass::getSimpleName)
                .collect(Collectors.toSet()))
        .containsExactlyInAnyOrder(
            "LettuceLockNode",
            "LettuceNodes",
            "LettuceOptions",
            "Builder",
            "Credentials",
            "CredentialsSource");
  }

  private static boolean isExported(JavaClass type) {
    return type.getPackageName().equals("dev.redlock.lettuce")
        && type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(LettuceArchitectureTest::isExported).orElse(true);
  }

  private static boolean waits(JavaAccess<?> call) {
    JavaClass owner = call.getTargetOwner();
    String name = call.getName();
    return (owner.isAssignableTo(Future.class) && Set.of("get", "join").contains(name))
        || (owner.isEquivalentTo(Thread.class) && name.equals("sleep"))
        || (owner.isEquivalentTo(LockSupport.class) && name.startsWith("park"))
        || (owner.isEquivalentTo(Object.class) && name.equals("wait"))
        || (owner.getPackageName().startsWith("java.util.concurrent") && name.startsWith("await"));
  }
}
