package dev.redlock.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The directed histories, which random runs miss or find too late. Each is a short script for the
 * simulated world and a test of its own. The hunt for mutants runs them as well, without JUnit:
 * each method of these classes that is not private is one.
 */
final class Histories {
  /** Those that take seconds come last. */
  private static final String THEMES =
      "Acquire Token Extend Restart Release Queue LocalHandOff Erring Majority Bounds Load";

  private Histories() {}

  /** All of them by name, in the order of the themes. */
  static Map<String, Runnable> all() {
    Map<String, Runnable> all = new LinkedHashMap<>();
    for (String name : THEMES.split(" ", -1)) {
      Class<?> theme = test(name);
      Arrays.stream(theme.getDeclaredMethods())
          .filter(method -> !Modifier.isPrivate(method.getModifiers()))
          .sorted(Comparator.comparing(Method::getName))
          .forEach(history -> all.put(history.getName(), () -> run(theme, history)));
    }
    return all;
  }

  /** Tests are compiled after this class. */
  private static Class<?> test(String theme) {
    try {
      return Class.forName("dev.redlock.simulation." + theme + "HistoriesTest");
    } catch (ClassNotFoundException e) {
      throw new LinkageError(theme, e); // The hunt must not take it for a mutant that is caught.
    }
  }

  private static void run(Class<?> theme, Method history) {
    try {
      history.invoke(theme.getDeclaredConstructor().newInstance());
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error; // Unwrapped: the hunt for mutants must see a class that cannot be linked.
      }
      throw new AssertionError(history.getName(), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
