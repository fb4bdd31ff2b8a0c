package dev.redlock.internal.protocol;

import java.util.Collection;

/** Names of nodes that lead to another server on each machine. */
public final class Loopback {
  /** Why such a name is refused. */
  public static final String WHY =
      "; a loopback name leads to another server on each client's machine: use one name that is the"
          + " same for all clients";

  private Loopback() {}

  /** Whether some of these names are loopback names, and some are not. */
  public static boolean isMixed(Collection<String> names) {
    long local = names.stream().filter(Loopback::is).count();
    return local > 0 && local < names.size();
  }

  private static boolean is(String name) {
    String host = name.replaceFirst("(:\\d+)?(/\\d+)?$", "");
    return host.equals("localhost")
        || host.endsWith(".localhost")
        || host.startsWith("localhost.")
        || host.matches("127(\\.\\d+){0,3}")
        || host.equals("::1")
        || host.equals("[::1]");
  }
}
