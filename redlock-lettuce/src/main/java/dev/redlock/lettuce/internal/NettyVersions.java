package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceLockNode;
import io.netty.util.Version;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns if the class path has Netty jars of several versions. Lettuce and Vert.x ask for different
 * ones, and a build tool takes some jars from each. They then fail with linkage errors, perhaps
 * hours later and in a place that does not name the cause.
 */
final class NettyVersions {
  private static final Logger log = LoggerFactory.getLogger(LettuceLockNode.class);

  /** The native parts of TLS and what is still incubating have versions of their own. */
  private static final String OTHERS = ".*(tcnative|incubator).*";

  private static final AtomicBoolean checked = new AtomicBoolean();

  private NettyVersions() {}

  /** Logs once in this process. */
  static void check() {
    if (!checked.compareAndSet(false, true)) {
      return;
    }
    Map<String, String> versions = new TreeMap<>();
    Version.identify(NettyVersions.class.getClassLoader())
        .forEach((jar, version) -> versions.put(jar, version.artifactVersion()));
    String mixed = mixed(versions);
    if (!mixed.isEmpty()) {
      log.warn(
          "Netty jars of several versions are on the class path: {}. They can fail at any time with"
              + " linkage errors; import redlock-bom or netty-bom to get one version",
          mixed);
    }
  }

  /** The jars of each version; empty if all have the same. */
  static String mixed(Map<String, String> versionOfJar) {
    Map<String, TreeSet<String>> jars = new TreeMap<>();
    versionOfJar.forEach(
        (jar, version) -> {
          if (!jar.matches(OTHERS)) {
            jars.computeIfAbsent(version, unused -> new TreeSet<>()).add(jar);
          }
        });
    return jars.size() > 1 ? jars.toString() : "";
  }
}
