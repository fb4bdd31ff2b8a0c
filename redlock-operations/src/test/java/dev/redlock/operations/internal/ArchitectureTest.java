package dev.redlock.operations.internal;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.redlock.spi.Time;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;

/** What the shape of the code promises and a compiler does not check. */
@AnalyzeClasses(
    packages = "dev.redlock.operations.internal",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule operations_useTheClientThroughThePort =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("dev.redlock.internal..")
                  .and(
                      not(
                          resideInAnyPackage(
                              "dev.redlock.internal.operations",
                              "dev.redlock.internal.sets",
                              "dev.redlock.internal.text"))))
          .because("core exports no other internal package to this module");

  @ArchTest
  static final ArchRule stepsOfAChange_arePure =
      noClasses()
          .that(belongToAnyOf(SetOperator.class))
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "java.util.concurrent..",
                      "java.util.random..",
                      "java.io..",
                      "java.net..",
                      "java.nio..",
                      "com.google..",
                      "dev.redlock",
                      "dev.redlock.internal.operations")
                  .or(assignableTo(Thread.class))
                  .or(assignableTo(Random.class))
                  .or(assignableTo(Time.class)))
          .because("the same class runs in random histories, with virtual time");

  @ArchTest
  static final ArchRule operations_neitherReadAClockNorWait =
      noClasses()
          .should()
          .accessTargetWhere(describe("reads a clock or waits", ArchitectureTest::isForbidden))
          .because("time is that of the client, and each of its threads serves every lock");

  private static boolean isForbidden(JavaAccess<?> access) {
    JavaClass owner = access.getTargetOwner();
    return switch (access.getName()) {
      case "nanoTime", "currentTimeMillis" -> owner.isEquivalentTo(System.class);
      case "now", "systemUTC", "systemDefaultZone" ->
          owner.getPackageName().startsWith("java.time");
      case "get", "join" -> owner.isAssignableTo(Future.class);
      case "sleep" -> owner.isEquivalentTo(Thread.class);
      case "wait" -> owner.isEquivalentTo(Object.class);
      default ->
          Set.of("await", "park").stream().anyMatch(access.getName()::startsWith)
              && owner.getPackageName().startsWith("java.util.concurrent");
    };
  }
}
