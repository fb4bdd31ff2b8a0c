package dev.redlock.schedules;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
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

/**
 * A fault, put into a copy of the sources of redlock-core or redlock-lettuce and compiled in
 * memory.
 *
 * @param name the fault
 * @param source where it is from: the number of an issue, or {@code own}
 * @param caughtBy a word in the names of the scenarios to run; empty for all
 * @param edits what is replaced; each original must occur exactly once
 */
public record Patch(String name, String source, String caughtBy, List<Edit> edits) {
  private static final String SOURCES = "/src/main/java/dev/redlock/";

  /** One replacement in the file of one type, for example {@code internal/Locks}. */
  public record Edit(String type, String original, String replacement) {}

  /** The classes with the fault, by name. */
  public Map<String, byte[]> compile(Path root) throws IOException {
    Map<String, String> texts = new HashMap<>();
    for (Edit edit : edits) {
      String text = texts.get(edit.type());
      if (text == null) {
        text =
            Files.readString(root.resolve(module(edit.type()) + SOURCES + edit.type() + ".java"));
      }
      texts.put(edit.type(), edited(text, edit));
    }
    List<JavaFileObject> sources = new ArrayList<>();
    texts.forEach((type, text) -> sources.add(new Source(type, text)));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Classes classes = new Classes(compiler.getStandardFileManager(null, null, null));
    StringWriter messages = new StringWriter();
    List<String> options =
        List.of("-g", "-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"));
    if (!compiler.getTask(messages, classes, null, options, null, sources).call()) {
      throw new IllegalStateException("'" + name + "' does not compile: " + messages);
    }
    return classes.bytes();
  }

  private static String module(String type) {
    return type.startsWith("lettuce/") ? "redlock-lettuce" : "redlock-core";
  }

  private String edited(String text, Edit edit) {
    int at = text.indexOf(edit.original());
    if (at < 0 || text.indexOf(edit.original(), at + 1) >= 0) {
      throw new IllegalStateException(
          "'"
              + name
              + "': its original occurs "
              + (at < 0 ? "nowhere" : "more than once")
              + " in "
              + edit.type()
              + ": "
              + edit.original());
    }
    return text.substring(0, at)
        + edit.replacement()
        + text.substring(at + edit.original().length());
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String type, String text) {
      super(URI.create("string:///dev/redlock/" + type + ".java"), Kind.SOURCE);
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
