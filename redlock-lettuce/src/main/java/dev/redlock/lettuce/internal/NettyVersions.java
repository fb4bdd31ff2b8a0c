package dev.redlock.lettuce.internal;

import static dev.redlock.redis.internal.OperatorLog.log;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Warns if the class path has Netty jars of several versions. Lettuce and Vert.x ask for different
 * ones, and a build tool takes some jars from each. They then fail with linkage errors, perhaps
 * hours later and in a place that does not name the cause.
 */
final class NettyVersions {
  /** The native parts of TLS and what is still incubating have versions of their own. */
  private static final String OTHERS = ".*(tcnative|incubator).*";

  private static final String FILE = "META-INF/io.netty.versions.properties";

  /** The lines are such as {@code netty-common.version=4.2.19.Final}. */
  private static final String VERSION = ".version";

  private static final AtomicBoolean checked = new AtomicBoolean();

  private NettyVersions() {}

  /** Logs once in this process. */
  static void check() {
    if (!checked.compareAndSet(false, true)) {
      return;
    }
    String mixed = mixed(onClassPath());
    if (!mixed.isEmpty()) {
      log.warn(
          "Netty jars of several versions are on the class path: {}. They can fail at any time with"
              + " linkage errors; import redlock-bom or netty-bom to get one version",
          mixed);
    }
  }

  /**
   * The version of each jar. Netty's own class for this parses the dates of the builds too, which
   * takes a new JVM as long as its first connection.
   */
  static Map<String, String> onClassPath() {
    Map<String, String> versions = new TreeMap<>();
    ClassLoader loader = NettyVersions.class.getClassLoader();
    try {
      for (URL each : Collections.list(loader.getResources(FILE))) {
        Properties lines = new Properties();
        try (InputStream in = each.openStream()) {
          lines.load(in);
        }
        for (String name : lines.stringPropertyNames()) {
          if (name.endsWith(VERSION)) {
            versions.put(
                name.substring(0, name.length() - VERSION.length()), lines.getProperty(name));
          }
        }
      }
    } catch (IOException e) {
      log.debug("the versions of the Netty jars cannot be read", e);
    }
    return versions;
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
