package dev.redlock.cli.run;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The signals that arrive at this process. Before the child runs, the first one makes the command
 * give up; afterwards each one is passed on.
 *
 * <p>The JVM keeps QUIT for its thread dump and gives no way to catch it. It keeps USR2 too, unless
 * the variable {@code _JAVA_SR_SIGNUM} gives it another one; the start script does.
 *
 * <p>The only way to catch a signal is {@code sun.misc.Signal}, of the module {@code
 * jdk.unsupported}. This class finds it by reflection, because javac has no means to suppress its
 * warning.
 */
final class Signals {
  private static final List<String> CAUGHT = List.of("TERM", "INT", "HUP", "USR1", "USR2");

  // Guarded by this.
  private int first;
  private @Nullable Consumer<String> receiver;
  private Runnable onFirst = () -> {};

  /** Begins to catch signals. A signal that is ignored, as by nohup, stays ignored. */
  void install() {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Method name = signal.getMethod("getName");
      Method number = signal.getMethod("getNumber");
      Object proxy =
          Proxy.newProxyInstance(
              handler.getClassLoader() == null
                  ? Signals.class.getClassLoader()
                  : handler.getClassLoader(),
              new Class<?>[] {handler},
              (self, method, args) -> {
                if (method.getName().equals("handle")) {
                  arrived((String) name.invoke(args[0]), (Integer) number.invoke(args[0]));
                }
                return null;
              });
      Method handle = signal.getMethod("handle", signal, handler);
      for (String each : CAUGHT) {
        try {
          handle.invoke(null, signal.getConstructor(String.class).newInstance(each), proxy);
        } catch (InvocationTargetException e) {
          // The JVM uses it, or the system does not have it.
        }
      }
    } catch (ReflectiveOperationException e) {
      System.err.println("redlock: signals are not passed on: this Java has no sun.misc.Signal");
    }
  }

  private void arrived(String name, int number) {
    Consumer<String> to;
    Runnable stop;
    synchronized (this) {
      to = receiver;
      stop = onFirst;
      if (to == null && first == 0) {
        first = number;
      }
    }
    if (to != null) {
      to.accept(name);
    } else {
      stop.run();
    }
  }

  /** Runs the task when the first signal arrives; at once if one has arrived. */
  void onFirst(Runnable task) {
    synchronized (this) {
      onFirst = task;
      if (first == 0) {
        return;
      }
    }
    task.run();
  }

  /** The number of the first signal; 0 if none has arrived. */
  synchronized int first() {
    return first;
  }

  /** Passes each signal from now on to the receiver. Returns false if one has arrived before. */
  synchronized boolean passTo(Consumer<String> to) {
    receiver = to;
    return first == 0;
  }
}
