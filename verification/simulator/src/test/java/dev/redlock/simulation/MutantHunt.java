package dev.redlock.simulation;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Puts each fault of {@link Mutant} into a copy of the sources, compiles it in memory, and runs
 * histories until a rule is broken.
 */
final class MutantHunt {
  private static final long SEEDS = 2_000;
  private static final long MINUTES = 4;

  private MutantHunt() {}

  /** The result of one mutant; it is not caught if both are empty. */
  record Outcome(Mutant mutant, String seed, List<String> histories) {
    boolean caught() {
      return !seed.isEmpty() || !histories.isEmpty();
    }
  }

  /** Hunts all, or those whose name contains the text; prints a table; true if all were caught. */
  static boolean run(Path root, String only, int threads, PrintWriter out)
      throws InterruptedException, ExecutionException {
    List<Outcome> outcomes = hunt(root, selected(only), SEEDS, true, threads);
    out.println("| source | mutant | caught by seed | caught by history |");
    out.println("|---|---|---|---|");
    int caught = 0;
    for (Outcome o : outcomes) {
      caught += o.caught() ? 1 : 0;
      out.printf(
          Locale.ROOT,
          "| %s | %s | %s | %s |%n",
          o.mutant().source(),
          o.mutant().name(),
          o.caught() && o.seed().isEmpty() ? "–" : o.seed(),
          o.caught() ? firstOf(o.histories()) : "NOT CAUGHT");
    }
    out.println("simulate: mutants caught=" + caught + " of=" + outcomes.size());
    out.flush();
    return caught == outcomes.size();
  }

  /** Prints the faults and the classes that they change; runs nothing. */
  static void list(String only, PrintWriter out) {
    out.println("| source | class | mutant |");
    out.println("|---|---|---|");
    List<Mutant> mutants = selected(only);
    for (Mutant m : mutants) {
      String types =
          m.edits().stream()
              .map(edit -> edit.file().replaceAll(".*/|\\.java$", ""))
              .distinct()
              .collect(Collectors.joining(", "));
      out.println("| " + m.source() + " | " + types + " | " + m.name() + " |");
    }
    out.println("simulate: mutants=" + mutants.size());
    out.flush();
  }

  private static List<Mutant> selected(String only) {
    return Stream.of(Mutant.all(), ShellMutants.all(), SetMutants.all())
        .flatMap(List::stream)
        .filter(m -> only == null || m.name().contains(only) || m.source().equals(only))
        .toList();
  }

  private static String firstOf(List<String> names) {
    if (names.isEmpty()) {
      return "–";
    }
    return names.get(0) + (names.size() == 1 ? "" : " and " + (names.size() - 1) + " more");
  }

  static List<Outcome> hunt(
      Path root, List<Mutant> mutants, long seeds, boolean thorough, int threads)
      throws InterruptedException, ExecutionException {
    ExecutorService workers = Executors.newFixedThreadPool(threads, MutantHunt::daemon);
    List<Future<Outcome>> hunts = new ArrayList<>();
    for (Mutant m : mutants) {
      hunts.add(workers.submit(hunt(root, m, seeds, thorough)));
    }
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < hunts.size(); i++) {
      outcomes.add(hunts.get(i).get());
    }
    workers.shutdownNow();
    return outcomes;
  }

  private static Thread daemon(Runnable task) {
    Thread t = new Thread(task, "mutants");
    t.setDaemon(true);
    return t;
  }

  private static Callable<Outcome> hunt(Path root, Mutant m, long seeds, boolean thorough) {
    return () -> {
      Map<String, byte[]> classes = compile(root, m);
      Scenario.Setting setting = settingOf(m);
      ExecutorService trial = Executors.newSingleThreadExecutor(MutantHunt::daemon);
      try {
        List<String> caught =
            trial
                .submit(() -> tryOut(classes, seeds, thorough, setting))
                .get(MINUTES, TimeUnit.MINUTES);
        return new Outcome(m, caught.get(0), caught.subList(1, caught.size()));
      } catch (TimeoutException e) {
        return new Outcome(m, "does not end", List.of());
      } finally {
        trial.shutdownNow();
      }
    };
  }

  /** The worlds of the client as it ships that have to catch it; null for those of the protocol. */
  private static Scenario.Setting settingOf(Mutant m) {
    return switch (m.source()) {
      case ShellMutants.SOURCE -> Scenario.Setting.SHELL;
      case SetMutants.SOURCE -> Scenario.Setting.SHELL_SETS;
      default -> null;
    };
  }

  /** {@link Collisions#figures} with the sources changed. */
  @SuppressWarnings("unchecked")
  static List<double[]> figures(Path root, Mutant variant, int times) throws Exception {
    Class<?> loaded =
        new MutantLoader(compile(root, variant), false).loadClass(Collisions.class.getName());
    return (List<double[]>) loaded.getMethod("figures", int.class).invoke(null, times);
  }

  @SuppressWarnings("unchecked")
  private static List<String> tryOut(
      Map<String, byte[]> classes, long seeds, boolean thorough, Scenario.Setting setting)
      throws ReflectiveOperationException {
    boolean shell = setting != null;
    Class<?> trial = new MutantLoader(classes, shell).loadClass(MutantTrial.class.getName());
    try {
      return (List<String>)
          (shell
              ? trial
                  .getMethod("runShell", String.class, long.class, long.class)
                  .invoke(null, setting.name(), seeds, MINUTES * 60 / 2)
              : trial.getMethod("run", long.class, boolean.class).invoke(null, seeds, thorough));
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof LinkageError broken) {
        throw broken; // No history ran: the classes do not fit together.
      }
      return List.of("exception " + e.getCause());
    }
  }

  /** Throws an exception if a line that the mutant changes no longer exists. */
  static void requireFits(Path root, Mutant m) throws IOException {
    edited(root, m);
  }

  // Compiling.

  private static Map<String, byte[]> compile(Path root, Mutant m) throws IOException {
    List<JavaFileObject> sources = new ArrayList<>();
    edited(root, m).forEach((file, text) -> sources.add(new Source(file, text)));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Classes classes = new Classes(compiler.getStandardFileManager(null, null, null));
    StringWriter messages = new StringWriter();
    List<String> options =
        List.of("-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"));
    if (!compiler.getTask(messages, classes, null, options, null, sources).call()) {
      throw new IllegalStateException("mutant '" + m.name() + "' does not compile: " + messages);
    }
    return classes.bytes();
  }

  /** The texts of the files that the mutant changes. */
  private static Map<String, String> edited(Path root, Mutant m) throws IOException {
    Map<String, String> texts = new HashMap<>();
    for (Mutant.Edit edit : m.edits()) {
      String text = texts.get(edit.file());
      if (text == null) {
        text = Files.readString(root.resolve(edit.file()));
      }
      texts.put(edit.file(), edited(text, edit, m));
    }
    return texts;
  }

  private static String edited(String text, Mutant.Edit edit, Mutant m) {
    int at = text.indexOf(edit.original());
    if (at < 0 || text.indexOf(edit.original(), at + 1) >= 0) {
      throw new IllegalStateException(
          "mutant '"
              + m.name()
              + "': its original occurs "
              + (at < 0 ? "nowhere" : "more than once")
              + " in "
              + edit.file()
              + ": "
              + edit.original());
    }
    return text.substring(0, at)
        + edit.replacement()
        + text.substring(at + edit.original().length());
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

  /** Loads the protocol, the model and the simulator again, with the mutated classes. */
  private static final class MutantLoader extends ClassLoader {
    private static final List<String> OURS =
        List.of(
            "dev.redlock.internal.protocol.",
            "dev.redlock.testkit.model.",
            "dev.redlock.lettuce.internal.ConnectionStates",
            "dev.redlock.lettuce.internal.Probe",
            "dev.redlock.simulation.");

    /**
     * The shell can be replaced only together with all classes that use its package-private
     * members.
     */
    private static final List<String> ALL = List.of("dev.redlock.");

    private final Map<String, byte[]> mutated;
    private final List<String> ours;

    MutantLoader(Map<String, byte[]> mutated, boolean shell) {
      super(MutantHunt.class.getClassLoader());
      ours = shell ? ALL : OURS;
      this.mutated = mutated;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (ours.stream().noneMatch(name::startsWith)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> known = findLoadedClass(name);
        if (known != null) {
          return known;
        }
        byte[] bytes = mutated.get(name);
        try (InputStream in =
            bytes != null
                ? InputStream.nullInputStream()
                : getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
          if (in == null) {
            throw new ClassNotFoundException(name);
          }
          byte[] code = bytes != null ? bytes : in.readAllBytes();
          return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
          throw new ClassNotFoundException(name, e);
        }
      }
    }
  }
}
