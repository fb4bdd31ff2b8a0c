package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.codegen.processor.Processor;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The annotations of the API suit the generators of Vert.x: the RxJava 3 binding compiles. */
class BindingsTest {

  @Test
  void rxJava3Binding_ofTheApi_isGeneratedAndCompiles(@TempDir Path out) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        Stream<Path> sources = Files.walk(Path.of("src", "main", "java"))) {
      List<Path> own =
          sources
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> !file.endsWith("module-info.java"))
              .toList();
      JavaCompiler.CompilationTask task =
          compiler.getTask(
              said,
              files,
              null,
              List.of(
                  "-d", out.toString(), "-cp", System.getProperty("java.class.path"), "-nowarn"),
              null,
              files.getJavaFileObjectsFromPaths(own));
      task.setProcessors(List.of(new Processor()));
      assertThat(task.call()).as(said.toString()).isTrue();
    }
    Path binding = out.resolve("dev/redlock/rxjava3/vertx");
    assertThat(binding.resolve("VertxRedlock.class")).exists();
    assertThat(binding.resolve("VertxLease.class")).exists();
    assertThat(binding.resolve("RedlockSharedLocks.class")).exists();
  }
}
