package dev.redlock.testkit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Starts servers as containers, through Testcontainers. No class of Testcontainers is loaded where
 * there is no sign of a Docker engine.
 */
final class DockerSource implements ServerSource {

  /**
   * The system property that names an image to run instead of the one built from the embedded
   * binary.
   */
  static final String IMAGE_PROPERTY = "redlock.redis.image";

  private static final List<Path> SOCKETS =
      List.of(
          Path.of("/var/run/docker.sock"),
          Path.of(System.getProperty("user.home"), ".docker", "run", "docker.sock"));

  @Override
  public ServerFactory find() throws UnavailableException {
    Map<String, String> environment = System.getenv();
    if (environment.getOrDefault("DOCKER_HOST", "").isEmpty()
        && SOCKETS.stream().noneMatch(Files::exists)) {
      throw new UnavailableException(
          "no Docker: DOCKER_HOST is not set, and none of these sockets exists: " + SOCKETS);
    }
    try {
      Class.forName("org.testcontainers.containers.GenericContainer", false, loader());
    } catch (ClassNotFoundException e) {
      throw new UnavailableException(
          "org.testcontainers:testcontainers is not on the class path", e);
    }
    if (Files.exists(Path.of("/.dockerenv"))
        && !environment.containsKey("TESTCONTAINERS_HOST_OVERRIDE")) {
      throw new UnavailableException(
          "/.dockerenv exists, so Testcontainers would try for minutes to pull an image to find its"
              + " way out; set TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1,"
              + " TESTCONTAINERS_RYUK_DISABLED=true and TESTCONTAINERS_CHECKS_DISABLE=true in the"
              + " environment");
    }
    return Containers.of(System.getProperty(IMAGE_PROPERTY, "").strip());
  }

  private static ClassLoader loader() {
    return DockerSource.class.getClassLoader();
  }
}
