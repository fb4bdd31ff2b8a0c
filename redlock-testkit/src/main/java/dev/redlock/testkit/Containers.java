package dev.redlock.testkit;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.Container;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.images.builder.ImageFromDockerfile;

/** Runs servers as containers of one image, and removes the containers of JVMs that were killed. */
record Containers(String image) implements ServerFactory {

  /** The label that names the process that owns a container. */
  static final String OWNER_LABEL = "dev.redlock.testkit.owner";

  /** Raise this with every change of how the image is built, so that no old image is used. */
  private static final int RECIPE = 1;

  /** Uses the given image, or builds one that contains only the static binary. */
  static Containers of(String image) throws ServerSource.UnavailableException {
    try {
      DockerClient client = DockerClientFactory.instance().client();
      sweep(client);
      return new Containers(image.isEmpty() ? build(client) : present(client, image));
    } catch (RuntimeException e) {
      throw new ServerSource.UnavailableException("Docker cannot be used", e);
    }
  }

  private static String present(DockerClient client, String image)
      throws ServerSource.UnavailableException {
    try {
      client.inspectImageCmd(image).exec();
      return image;
    } catch (NotFoundException e) {
      throw new ServerSource.UnavailableException(
          "image missing: " + image + " is not on this engine (docker pull it first)", e);
    }
  }

  private static String build(DockerClient client) throws ServerSource.UnavailableException {
    String platform =
        EmbeddedBinary.platform("linux", System.getProperty("os.arch")); // the engine's platform
    Path binary = EmbeddedBinary.unpack(platform);
    String hash = binary.getFileName().toString().replace("redis-server-", "").substring(0, 12);
    String image = "redlock-testkit-redis:" + hash + "-" + RECIPE;
    try {
      client.inspectImageCmd(image).exec();
      return image;
    } catch (NotFoundException e) {
      return new ImageFromDockerfile(image, false)
          .withFileFromPath("redis-server", binary)
          .withDockerfileFromBuilder(
              file ->
                  file.from("scratch")
                      .copy("redis-server", "/redis-server")
                      .workDir("/data")
                      .entryPoint(new String[] {"/redis-server"}) // the image has no shell
                      .build())
          .get();
    }
  }

  /** Removes containers whose JVM on this machine has ended. */
  private static void sweep(DockerClient client) {
    List<Container> ours =
        client.listContainersCmd().withShowAll(true).withLabelFilter(List.of(OWNER_LABEL)).exec();
    for (Container container : ours) {
      Map<String, String> labels = container.getLabels();
      if (labels != null && !isAlive(labels.getOrDefault(OWNER_LABEL, ""))) {
        try {
          client.removeContainerCmd(container.getId()).withForce(true).exec();
        } catch (DockerException e) {
          // Another JVM removes it as well, or it has just ended.
        }
      }
    }
  }

  /**
   * The owner of a container: process id and start time, because a process id alone can be reused.
   */
  static String owner() {
    return owner(ProcessHandle.current());
  }

  private static boolean isAlive(String owner) {
    try {
      return ProcessHandle.of(Long.parseLong(owner.replaceAll("-.*", "")))
          .map(process -> owner(process).equals(owner))
          .orElse(false);
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static String owner(ProcessHandle process) {
    long started = process.info().startInstant().map(instant -> instant.toEpochMilli()).orElse(0L);
    return process.pid() + "-" + started;
  }

  @Override
  public RedisServer create(int index, ServerSpec spec) {
    return new ContainerServer(image, spec);
  }

  @Override
  public String description() {
    return "Docker image " + image;
  }
}
