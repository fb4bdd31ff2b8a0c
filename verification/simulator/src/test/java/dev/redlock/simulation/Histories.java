package dev.redlock.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The directed histories, which random runs miss or find too late. Each is a short script for the
 * simulated world and a test of its own. The hunt for mutants runs them as well.
 */
final class Histories {
  /** Those that take seconds come last. */
  private static final List<Class<?>> THEMES =
      List.of(
          AcquireHistoriesTest.class,
          TokenHistoriesTest.class,
          ExtendHistoriesTest.class,
          RestartHistoriesTest.class,
          ReleaseHistoriesTest.class,
          QueueHistoriesTest.class,
          LocalHandOffHistoriesTest.class,
          ErringHistoriesTest.class,
          MajorityHistoriesTest.class,
          BoundsHistoriesTest.class,
          LoadHistoriesTest.class);

  private Histories() {}

  /** All of them by name, in the order of the themes. */
  static Map<String, Runnable> all() {
    Map<String, Runnable> all = new LinkedHashMap<>();
    for (Class<?> theme : THEMES) {
      Arrays.stream(theme.getDeclaredMethods())
          .filter(method -> method.isAnnotationPresent(Test.class))
          .sorted(Comparator.comparing(Method::getName))
          .forEach(history -> all.put(history.getName(), () -> run(theme, history)));
    }
    return all;
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
