package dev.redlock.internal;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Learns from the JVM that a memory image of this process is taken, or that it runs from one: by
 * {@code org.crac} or {@code jdk.crac}, if one of them is there (CRaC, AWS SnapStart). By
 * reflection, because a dependency would reach all users.
 */
final class ImageHooks implements InvocationHandler {
  private static final List<String> PACKAGES = List.of("org.crac", "jdk.crac");

  private final Runnable before;
  private final Runnable after;

  private ImageHooks(Runnable before, Runnable after) {
    this.before = before;
    this.after = after;
  }

  /**
   * Registers the two tasks; they must not throw. The lookup may open all jars of the class path,
   * so no caller should wait for it.
   *
   * @return what the caller has to keep, because the JVM refers to it weakly; null if there are no
   *     hooks
   */
  static @Nullable Object register(Runnable before, Runnable after)
      throws ReflectiveOperationException {
    if (System.getProperty("org.graalvm.nativeimage.imagecode") != null) {
      return null; // It has no hooks, and a strict one rejects the lookup.
    }
    ClassLoader loader = ImageHooks.class.getClassLoader();
    for (String name : PACKAGES) {
      Class<?> core;
      try {
        core = Class.forName(name + ".Core", true, loader);
      } catch (ClassNotFoundException e) {
        continue;
      }
      Class<?> type = Class.forName(name + ".Resource", true, loader);
      Object resource =
          Proxy.newProxyInstance(loader, new Class<?>[] {type}, new ImageHooks(before, after));
      Object context = core.getMethod("getGlobalContext").invoke(null);
      // The interface of the API: the class of the context need not be public.
      Class.forName(name + ".Context", true, loader)
          .getMethod("register", type)
          .invoke(context, resource);
      return resource;
    }
    return null;
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) {
    switch (method.getName()) {
      case "beforeCheckpoint" -> before.run();
      case "afterRestore" -> after.run();
      case "equals" -> {
        return args != null && proxy == args[0];
      }
      case "hashCode" -> {
        return System.identityHashCode(proxy);
      }
      case "toString" -> {
        return "the locks of a Redlock client";
      }
      default -> {}
    }
    return null;
  }
}
