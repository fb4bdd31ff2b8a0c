package dev.redlock.testkit;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The static redis-server inside org.signal:embedded-redis, copied to a per-user cache.
 *
 * <p>The file name contains the SHA-256 of its content, and the file is created by an atomic
 * rename. So several JVMs may create it at the same time: the second one replaces it with the same
 * bytes, and no JVM runs an incomplete program.
 */
final class EmbeddedBinary {

  /**
   * The system property that names the directory of the copy; default: redlock-testkit in the
   * user's cache directory.
   */
  static final String CACHE_PROPERTY = "redlock.redis.cache";

  private static final String RESOURCE_PREFIX = "redis-server-7.0.15-";

  // Guarded by the class; the copy is looked up once per JVM.
  private static @Nullable Path located;

  private EmbeddedBinary() {}

  static synchronized Path locate() throws ServerSource.UnavailableException {
    Path known = located;
    if (known == null || !Files.isExecutable(known)) {
      String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
      known = unpack(platform);
      located = known;
    }
    return known;
  }

  /** Copies the binary for a platform to the cache, unless the copy exists. */
  static Path unpack(String platform) throws ServerSource.UnavailableException {
    return copyToCache(read(platform), cache());
  }

  /** The name that the jar uses for the platform. */
  static String platform(String osName, String osArch) {
    String os = osName.toLowerCase(Locale.ROOT);
    String system = os.contains("mac") ? "darwin" : os.replace(' ', '_');
    String processor =
        switch (osArch.toLowerCase(Locale.ROOT)) {
          case "amd64", "x86_64" -> "amd64";
          case "aarch64", "arm64" -> "arm64";
          case "x86", "i386", "i486", "i586", "i686" -> "386";
          default -> osArch;
        };
    return system + "-" + processor;
  }

  static byte[] read(String platform) throws ServerSource.UnavailableException {
    String resource = RESOURCE_PREFIX + platform;
    // Not by the class: on the module path that finds resources of its own module alone.
    ClassLoader loader = EmbeddedBinary.class.getClassLoader();
    try (InputStream in = loader.getResourceAsStream(resource)) {
      if (in == null) {
        throw new ServerSource.UnavailableException(
            "no binary for this platform: "
                + resource
                + " is not on the class path (org.signal:embedded-redis has linux amd64, arm64 and"
                + " 386, macOS amd64 and arm64)");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ServerSource.UnavailableException("cannot read " + resource, e);
    }
  }

  static Path copyToCache(byte[] binary, Path cache) throws ServerSource.UnavailableException {
    Path target = cache.resolve("redis-server-" + Hashing.sha256().hashBytes(binary));
    try {
      if (Files.isExecutable(target) && Files.size(target) == binary.length) {
        return target;
      }
      Files.createDirectories(cache);
      Path part = Files.createTempFile(cache, "redis-server-", ".part");
      try {
        Files.write(part, binary);
        Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwx------"));
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(part);
      }
      return target;
    } catch (IOException e) {
      throw new ServerSource.UnavailableException(
          "cannot copy the binary to "
              + cache
              + " (-D"
              + CACHE_PROPERTY
              + " sets another directory)",
          e);
    }
  }

  private static Path cache() {
    String chosen = System.getProperty(CACHE_PROPERTY);
    if (chosen != null) {
      return Path.of(chosen);
    }
    String xdg = System.getenv("XDG_CACHE_HOME");
    Path base =
        xdg == null || xdg.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(xdg);
    return base.resolve("redlock-testkit");
  }
}
