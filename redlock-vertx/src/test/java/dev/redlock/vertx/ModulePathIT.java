package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and starts small applications on the module path, as users do. */
class ModulePathIT {
  /** Jars that tests need and applications do not; some are not modules. */
  private static final List<String> OF_TESTS =
      List.of(
          "test-classes",
          "harness",
          "surefire",
          "junit",
          "opentest4j",
          "apiguardian",
          "assertj",
          "byte-buddy",
          "awaitility",
          "hamcrest",
          "hazelcast",
          "vertx-codegen");

  private static final String OF_THE_CORE =
      """
      package app;

      import dev.redlock.Lease;
      import dev.redlock.Redlock;
      import dev.redlock.spi.RestartGuard;
      import dev.redlock.testkit.RedisNodes;
      import java.time.Duration;

      public final class Main {
        public static void main(String[] args) {
          if (!Main.class.getModule().isNamed() || !Redlock.class.getModule().isNamed()) {
            throw new IllegalStateException("not on the module path");
          }
          try (RedisNodes nodes = RedisNodes.start(3);
              Redlock redlock =
                  Redlock.builder()
                      .nodes(nodes.uris().toArray(String[]::new))
                      .restartGuard(RestartGuard.OFF)
                      .build()) {
            if (!redlock.awaitReady(Duration.ofSeconds(10))) {
              throw new IllegalStateException(redlock.operations().nodes().toString());
            }
            try (Lease lease = redlock.lock("name").acquire(Duration.ofSeconds(10))) {
              System.out.println("locked: " + lease.isValid());
            }
            var seen = redlock.operations().inspect("name").toCompletableFuture().join();
            System.out.println("inspected: " + seen.nodes().size());
          }
        }
      }
      """;

  private static final String OF_AN_ELECTION =
      """
      package app;

      import dev.redlock.Lease;
      import dev.redlock.Redlock;
      import dev.redlock.election.LeaderElection;
      import dev.redlock.spi.RestartGuard;
      import dev.redlock.testkit.RedisNodes;
      import java.util.concurrent.CompletableFuture;
      import java.util.concurrent.CompletionStage;
      import java.util.concurrent.TimeUnit;

      public final class Main implements LeaderElection.Work {
        private final CompletableFuture<Lease> leads = new CompletableFuture<>();

        @Override
        public CompletionStage<?> startWork(Lease lease) {
          leads.complete(lease);
          return CompletableFuture.completedStage(null);
        }

        @Override
        public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
          return CompletableFuture.completedStage(null);
        }

        public static void main(String[] args) throws Exception {
          if (!Main.class.getModule().isNamed() || !LeaderElection.class.getModule().isNamed()) {
            throw new IllegalStateException("not on the module path");
          }
          Main work = new Main();
          try (RedisNodes nodes = RedisNodes.start(3);
              Redlock redlock =
                  Redlock.builder()
                      .nodes(nodes.uris().toArray(String[]::new))
                      .restartGuard(RestartGuard.OFF)
                      .build();
              LeaderElection election = LeaderElection.builder(redlock, "name", work).build()) {
            election.start();
            System.out.println("leads: " + work.leads.get(20, TimeUnit.SECONDS).isValid());
          }
        }
      }
      """;

  private static final String ON_VERTX =
      """
      package app;

      import dev.redlock.testkit.RedisNodes;
      import dev.redlock.vertx.RedlockOptions;
      import dev.redlock.vertx.VertxRedlock;
      import io.vertx.core.Future;
      import io.vertx.core.Vertx;
      import java.time.Duration;
      import java.util.concurrent.TimeUnit;

      public final class Main {
        public static void main(String[] args) throws Exception {
          if (!Main.class.getModule().isNamed() || !VertxRedlock.class.getModule().isNamed()) {
            throw new IllegalStateException("not on the module path");
          }
          try (RedisNodes nodes = RedisNodes.start(3)) {
            RedlockOptions options = new RedlockOptions().setRestartGuard("off");
            nodes.uris().forEach(options::addNode);
            Vertx vertx = Vertx.vertx();
            VertxRedlock redlock = VertxRedlock.create(vertx, options);
            await(redlock.acquire("name", Duration.ofSeconds(10)).compose(l -> l.release()));
            System.out.println("locked: vertx");
            await(redlock.close());
            await(vertx.close());
          }
        }

        private static void await(Future<?> future) throws Exception {
          future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
        }
      }
      """;

  private static String modulePath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(
            entry -> OF_TESTS.stream().noneMatch(Path.of(entry).getFileName().toString()::contains))
        .collect(Collectors.joining(File.pathSeparator));
  }

  @Test
  @Timeout(120)
  void applicationOfTheCore_onTheModulePath_locks(@TempDir Path directory) throws Exception {
    assertThat(run(directory, OF_THE_CORE, "dev.redlock.core", "dev.redlock.testkit"))
        .contains("locked: true", "inspected: 3");
  }

  @Test
  @Timeout(120)
  void applicationOfAnElection_onTheModulePath_leads(@TempDir Path directory) throws Exception {
    assertThat(run(directory, OF_AN_ELECTION, "dev.redlock.election", "dev.redlock.testkit"))
        .contains("leads: true");
  }

  @Tag("thorough")
  @Test
  @Timeout(120)
  void applicationOnVertx_onTheModulePath_locks(@TempDir Path directory) throws Exception {
    assertThat(run(directory, ON_VERTX, "dev.redlock.vertx", "dev.redlock.testkit"))
        .contains("locked: vertx");
  }

  private static String run(Path directory, String source, String... modules) throws Exception {
    Path classes = compile(directory, source, modules);
    Path printed = directory.resolve("printed");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-p",
                modulePath() + File.pathSeparator + classes,
                "-m",
                "app/app.Main")
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    process.getOutputStream().close();
    try {
      assertThat(process.waitFor(100, TimeUnit.SECONDS)).as(Files.readString(printed)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    String said = Files.readString(printed);
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }

  private static Path compile(Path directory, String source, String... modules) throws IOException {
    String module =
        Arrays.stream(modules)
            .map(name -> "requires " + name + ";")
            .collect(Collectors.joining(" ", "module app { ", " }"));
    Path sources = Files.createDirectories(directory.resolve("src/app"));
    Path info = Files.writeString(sources.resolveSibling("module-info.java"), module);
    Path main = Files.writeString(sources.resolve("Main.java"), source);
    Path classes = Files.createDirectories(directory.resolve("classes"));
    StringWriter said = new StringWriter();
    PrintWriter out = new PrintWriter(said);
    int failed =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(
                out,
                out,
                "-proc:none",
                "-p",
                modulePath(),
                "-d",
                classes.toString(),
                info.toString(),
                main.toString());
    assertThat(failed).as(said.toString()).isZero();
    return classes;
  }
}
