package dev.redlock.internal.sets;

import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of nodes that lead to another server on each machine. */
public final class Loopback {
  /** Why such a name is refused. */
  public static final String WHY =
      "; a loopback name leads to another server on each client's machine: use one name that is the"
          + " same for all clients";

  /** The host of {@code h:1}, {@code h:1/2} and {@code cluster h:1}. Other names are no address. */
  private static final Pattern HOST = Pattern.compile("(?:.* )?(.+):\\d+(?:/\\d+)?");

  /**
   * This machine, in IPv4 and IPv6; a server that listens on 0.0.0.0 or :: is reached by it too.
   */
  private static final Pattern LOCAL =
      Pattern.compile(
          "(.+\\.)?localhost(\\..*)?|(::ffff:)?127(\\.\\d+){0,3}|0\\.0\\.0\\.0|(0:){7}[01]|::1?");

  private Loopback() {}

  /** Whether some of these names are loopback names, and some are other addresses. */
  public static boolean isMixed(Collection<String> names) {
    List<String> hosts =
        names.stream()
            .map(HOST::matcher)
            .filter(Matcher::matches)
            .map(address -> address.group(1))
            .toList();
    long local = hosts.stream().filter(Loopback::is).count();
    return local > 0 && local < hosts.size();
  }

  private static boolean is(String host) {
    return LOCAL.matcher(host.replaceAll("[\\[\\]]", "")).matches();
  }
}
