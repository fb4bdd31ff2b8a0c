package dev.redlock.harness.mutants;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles texts against the class path of this process. */
final class InMemoryCompiler {
  private InMemoryCompiler() {}

  /**
   * Returns the classes by name.
   *
   * @param mutant its name, for the message if it does not compile
   * @param texts the sources, by path
   */
  static Map<String, byte[]> compile(String mutant, Map<String, String> texts) {
    List<JavaFileObject> sources = new ArrayList<>();
    texts.forEach((file, text) -> sources.add(new Source(file, text)));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Classes classes = new Classes(compiler.getStandardFileManager(null, null, null));
    StringWriter messages = new StringWriter();
    List<String> options =
        List.of("-g", "-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"));
    if (!compiler.getTask(messages, classes, null, options, null, sources).call()) {
      throw new IllegalStateException("mutant '" + mutant + "' does not compile: " + messages);
    }
    return classes.bytes();
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String file, String text) {
      super(URI.create("string:///" + file.substring(file.indexOf("dev/"))), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class Classes extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> outputs = new HashMap<>();

    Classes(JavaFileManager files) {
      super(files);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
      return new SimpleJavaFileObject(URI.create("bytes:///" + name), kind) {
        @Override
        public OutputStream openOutputStream() {
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          outputs.put(name, out);
          return out;
        }
      };
    }

    Map<String, byte[]> bytes() {
      Map<String, byte[]> bytes = new HashMap<>();
      outputs.forEach((name, out) -> bytes.put(name, out.toByteArray()));
      return bytes;
    }
  }
}
