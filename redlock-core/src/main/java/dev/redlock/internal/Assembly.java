package dev.redlock.internal;

import static java.util.Collections.max;

import dev.redlock.InvalidOptionException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.text.Printable;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Checks what a builder collected, and starts a client. */
public final class Assembly {
  private static final Duration DEFAULT_MAX_LEASE_TIME = Duration.ofSeconds(30);

  private Assembly() {}

  public record Parts(
      List<LockNode> nodes,
      List<ReleaseHints> hints,
      List<RedlockListener> listeners,
      LockOptions defaults,
      @Nullable Duration maxLeaseTime,
      RestartGuard restartGuard,
      String keyPrefix,
      String label,
      boolean traceLeaks,
      boolean observes,
      @Nullable Executor callbackExecutor,
      @Nullable Time time) {}

  /** Makes nodes from these URIs, by the adapter that is present. */
  public static List<LockNode> nodes(List<String> uris) {
    if (uris.isEmpty()) {
      return List.of();
    }
    List<LockNode.Factory> adapters =
        services(LockNode.Factory.class, "an adapter that makes nodes from URIs");
    if (adapters.size() != 1) {
      throw new IllegalStateException(
          ("nodes(String...) needs exactly one adapter that makes nodes from URIs, such as"
                  + " dev.redlock:redlock-lettuce; found %s; or pass nodes that you made to"
                  + " nodes(LockNode...)")
              .formatted(adapters.stream().map(adapter -> adapter.getClass().getName()).toList()));
    }
    return checked("nodes", null, () -> adapters.get(0).nodes(List.copyOf(uris)));
  }

  /** Runs a check that rejects a value without the name of the option, and adds the name. */
  public static <T> T checked(String option, @Nullable String value, Supplier<T> check) {
    try {
      return check.get();
    } catch (IllegalArgumentException e) {
      String why = String.valueOf(e.getMessage());
      throw (InvalidOptionException) new InvalidOptionException(option, value, why).initCause(e);
    }
  }

  /** The services of this type. The loader of a pool's thread may see none, so it comes second. */
  static <S> List<S> services(Class<S> type, String what) {
    List<S> found = services(type, what, type.getClassLoader());
    return found.isEmpty()
        ? services(type, what, Thread.currentThread().getContextClassLoader())
        : found;
  }

  private static <S> List<S> services(Class<S> type, String what, @Nullable ClassLoader loader) {
    try {
      return ServiceLoader.load(type, loader).stream().map(ServiceLoader.Provider::get).toList();
    } catch (ServiceConfigurationError e) {
      throw new IllegalStateException(
          what + " is present, but cannot be loaded: " + e.getMessage(), e);
    }
  }

  /** The label of a client that has no other. */
  public static String defaultLabel(String application) {
    return ProcessLabel.of(application);
  }

  public static Redlock start(Parts parts) {
    return start(parts, Platform.JVM);
  }

  static Redlock start(Parts parts, Platform platform) {
    check(parts);
    Duration maxLeaseTime = maxLeaseTime(parts);
    checkLeaseTime(parts.defaults(), maxLeaseTime);
    // Rejects a bad prefix now, not at first use.
    checked("keyPrefix", parts.keyPrefix(), () -> LockKeys.of(parts.keyPrefix(), List.of("x")));
    Client client = new Client(parts, maxLeaseTime, platform);
    Logger log = client.context().log;
    if (parts.restartGuard() == RestartGuard.OFF) {
      log.warn(
          "the restart guard is off: a node that restarts or is flushed votes at once, and may"
              + " grant a lock that is still held; this is safe only in tests, or if every node"
              + " syncs every write to disk");
    }
    int n = parts.nodes().size();
    if (n % 2 == 0) {
      log.warn("{} nodes tolerate as many failures as {}: use an odd number of masters", n, n - 1);
    }
    if (Failpoint.areOn()) {
      log.warn("failpoints are on: for tests only");
    }
    client.start(parts);
    return client;
  }

  private static void check(Parts parts) {
    int n = parts.nodes().size();
    if (n == 0 || n > Members.MAX) {
      String why = "a lock needs 1 to " + Members.MAX + " nodes, " + n + " are configured";
      throw new InvalidOptionException("nodes", null, why);
    }
    Set<String> names = new HashSet<>();
    for (LockNode node : parts.nodes()) {
      if (!names.add(node.name())) {
        String why = " is configured twice: one server must not have two votes";
        throw new InvalidOptionException("nodes", null, "node " + node.name() + why);
      }
    }
  }

  private static Duration maxLeaseTime(Parts parts) {
    Duration given = parts.maxLeaseTime();
    Duration usual = max(List.of(DEFAULT_MAX_LEASE_TIME, parts.defaults().leaseTime()));
    return given == null ? usual : Members.checkMaxLeaseTime(given);
  }

  static void checkLeaseTime(LockOptions options, Duration maxLeaseTime) {
    if (options.leaseTime().compareTo(maxLeaseTime) > 0) {
      throw InvalidOptionException.of(
          "leaseTime",
          options.leaseTime(),
          ("is longer than maxLeaseTime %s, the time for which a node that may have forgotten"
                  + " leases stays out")
              .formatted(Printable.of(maxLeaseTime)));
    }
  }
}
