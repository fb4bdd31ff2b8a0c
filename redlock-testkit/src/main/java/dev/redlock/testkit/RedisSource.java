package dev.redlock.testkit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The source of Redis servers. The system property {@code
 * -Dredlock.redis=auto|embedded|path|docker|uri} selects it, or the test itself; the test has
 * precedence.
 */
public enum RedisSource {
  /**
   * The first of these that is usable: servers given by {@code -Dredlock.redis.uris}, the program
   * named by {@code -Dredlock.redis.binary}, {@link #EMBEDDED}, {@link #PATH}, {@link #DOCKER}. If
   * servers or a program are named, no other source is tried.
   */
  AUTO,
  /** The static Redis binary inside org.signal:embedded-redis, for Linux and macOS. */
  EMBEDDED,
  /**
   * The program named by {@code -Dredlock.redis.binary}, otherwise {@code redis-server} or {@code
   * valkey-server} on the PATH.
   */
  PATH,
  /**
   * Containers. The image is the one named by {@code -Dredlock.redis.image}, otherwise one that the
   * kit builds from the embedded binary without a pull. Needs org.testcontainers:testcontainers on
   * the class path.
   */
  DOCKER,
  /**
   * Servers that run already, given by {@code -Dredlock.redis.uris}, separated by commas. They must
   * be used for tests only, because the kit flushes them. They cannot be killed, restarted or
   * paused.
   */
  URI;

  static final String PROPERTY = "redlock.redis";
  static final String URIS_PROPERTY = "redlock.redis.uris";
  static final String BINARY_PROPERTY = "redlock.redis.binary";

  /** Returns the source that {@code -Dredlock.redis} names; {@link #AUTO} if it is not set. */
  public static RedisSource configured() {
    String name = System.getProperty(PROPERTY, "auto").strip();
    try {
      return valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "-D" + PROPERTY + "=" + name + " is not one of auto, embedded, path, docker, uri", e);
    }
  }

  /**
   * Returns why this source cannot provide a server on this machine; empty if it seems usable.
   * Without a socket of Docker it takes about a second; else Testcontainers may look for an engine
   * for some ten seconds.
   */
  public Optional<String> whyUnavailable() {
    try {
      find(configuredBinary());
      return Optional.empty();
    } catch (RedisStartException e) {
      return Optional.ofNullable(e.getMessage());
    }
  }

  /** Finds a usable source; otherwise fails with a message that lists what was tried, in order. */
  ServerFactory find(@Nullable Path binary) {
    List<String> tried = new ArrayList<>();
    for (Candidate candidate : candidates(binary)) {
      try {
        return candidate.source.find();
      } catch (ServerSource.UnavailableException e) {
        tried.add(candidate.name + ": " + e.getMessage());
      }
    }
    throw RedisStartException.nothingWorked(tried);
  }

  static @Nullable Path configuredBinary() {
    String binary = System.getProperty(BINARY_PROPERTY, "").strip();
    return binary.isEmpty() ? null : Path.of(binary);
  }

  private record Candidate(String name, ServerSource source) {}

  private List<Candidate> candidates(@Nullable Path binary) {
    return switch (this) {
      case AUTO -> {
        if (!uris().isEmpty()) {
          yield URI.candidates(binary);
        } else if (binary != null) {
          yield PATH.candidates(binary);
        }
        List<Candidate> all = new ArrayList<>(EMBEDDED.candidates(null));
        all.addAll(PATH.candidates(null));
        all.addAll(DOCKER.candidates(null));
        yield all;
      }
      case EMBEDDED -> List.of(new Candidate("embedded binary", BinarySource.embedded()));
      case PATH ->
          List.of(
              binary == null
                  ? new Candidate("program on the PATH", BinarySource.onPath())
                  : new Candidate("named program", BinarySource.named(binary)));
      case DOCKER -> List.of(new Candidate("Docker", new DockerSource()));
      case URI -> List.of(new Candidate("given addresses", new GivenSource(uris())));
    };
  }

  private static List<String> uris() {
    return Arrays.stream(System.getProperty(URIS_PROPERTY, "").split(",", -1))
        .map(String::strip)
        .filter(uri -> !uri.isEmpty())
        .toList();
  }
}
