package dev.redlock.schedules;

import java.io.IOException;
import java.util.Map;

/**
 * Loads the library again, with points in its shell, and with the given classes in place of its
 * own.
 */
final class InstrumentingLoader extends ClassLoader {
  private static final String OURS = "dev.redlock.";
  private static final String SHELL = "dev.redlock.internal.";

  private final Map<String, byte[]> replaced;
  private final boolean points;

  InstrumentingLoader(Map<String, byte[]> replaced) {
    this(replaced, true);
  }

  InstrumentingLoader(Map<String, byte[]> replaced, boolean points) {
    super(InstrumentingLoader.class.getClassLoader());
    this.replaced = replaced;
    this.points = points;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS) || name.startsWith("dev.redlock.schedules.")) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known != null ? known : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try {
      byte[] code = replaced.get(name);
      if (code == null) {
        code = Instrumentation.read(getParent(), name);
      }
      if (code == null) {
        throw new ClassNotFoundException(name);
      }
      boolean shell =
          points
              && name.startsWith(SHELL)
              && !name.contains("Scenarios")
              && !name.contains("ScriptedWorld");
      byte[] made = shell ? Instrumentation.apply(code) : code;
      return defineClass(name, made, 0, made.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
