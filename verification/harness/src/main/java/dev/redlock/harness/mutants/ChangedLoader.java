package dev.redlock.harness.mutants;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Loads classes of the project again, some of them changed. A class that uses package-private
 * members of a changed class must be loaded again, too: a package of two loaders is two packages.
 * All other classes are those of the process, so only these can be passed in and out.
 */
public class ChangedLoader extends ClassLoader {
  private final Map<String, byte[]> changed;
  private final Predicate<String> again;

  /**
   * A loader for one trial.
   *
   * @param changed classes by name; they must be among those that are loaded again
   * @param again whether the class of that name is loaded again
   */
  public ChangedLoader(Map<String, byte[]> changed, Predicate<String> again) {
    super(ChangedLoader.class.getClassLoader());
    this.changed = changed;
    this.again = again;
  }

  /** The code to define for a class that is loaded again. */
  protected byte[] made(String name, byte[] code) {
    return code;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!again.test(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known != null ? known : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    byte[] code = changed.get(name);
    byte[] made = made(name, code != null ? code : read(name));
    return defineClass(name, made, 0, made.length);
  }

  private byte[] read(String name) throws ClassNotFoundException {
    try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
