package dev.redlock.testkit;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.exception.NotModifiedException;
import com.google.common.base.Throwables;
import dev.redlock.testkit.internal.Waiting;
import dev.redlock.testkit.internal.Watchdog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * A container that runs one server. Its port on 127.0.0.1 is fixed, because a random port would
 * change when the container restarts.
 */
final class ContainerServer implements RedisServer {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int INNER_PORT = 6379;

  private final ServerSpec spec;
  private final GenericContainer<?> container;

  ContainerServer(String image, ServerSpec spec) {
    this.spec = spec;
    List<String> command = new ArrayList<>(List.of("--port", Integer.toString(INNER_PORT)));
    // Listen on all addresses of the container; from outside it is reachable on loopback only.
    command.addAll(List.of("--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/data"));
    command.addAll(spec.args());
    this.container =
        new GenericContainer<>(DockerImageName.parse(image))
            .withCommand(command.toArray(String[]::new))
            .withExposedPorts(INNER_PORT)
            .withLabel(Containers.OWNER_LABEL, Containers.owner())
            // The default strategy checks ports with a shell, which an image built from scratch
            // does not have.
            .waitingFor(Wait.forLogMessage(".*Ready to accept connections.*", 1));
    container.setPortBindings(List.of("127.0.0.1:" + spec.port() + ":" + INNER_PORT));
  }

  @Override
  public NodeAddress address() {
    return NodeAddress.local(spec.port(), spec.user(), spec.password());
  }

  @Override
  public void start() {
    try {
      container.start();
    } catch (RuntimeException e) {
      throw new RedisStartException(
          "Cannot start a container of "
              + container.getDockerImageName()
              + ": "
              + Throwables.getRootCause(e),
          e);
    }
    Watchdog.watchContainer(container.getContainerId());
    awaitReady();
  }

  @Override
  public void kill() {
    if (state() != ServerState.DEAD) {
      docker().killContainerCmd(container.getContainerId()).exec();
      Waiting.until(identity() + " is dead", PATIENCE, () -> state() == ServerState.DEAD);
    }
  }

  @Override
  public void restart(boolean keepData) {
    if (keepData && !spec.appendOnly()) {
      throw new IllegalStateException(
          "Only a node that was started with appendOnly(true) can keep its data over a restart");
    }
    kill();
    if (spec.appendOnly() && !keepData) {
      container.stop(); // removes the container, and the file in it
      start();
      return;
    }
    docker().startContainerCmd(container.getContainerId()).exec();
    awaitReady();
  }

  @Override
  public void pause() {
    docker().pauseContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void resume() {
    if (state() == ServerState.PAUSED) {
      docker().unpauseContainerCmd(container.getContainerId()).exec();
    }
  }

  @Override
  public ServerState state() {
    if (container.getContainerId() == null) {
      return ServerState.DEAD;
    }
    try {
      InspectContainerResponse.ContainerState state =
          docker().inspectContainerCmd(container.getContainerId()).exec().getState();
      if (Boolean.TRUE.equals(state.getPaused())) {
        return ServerState.PAUSED;
      }
      return Boolean.TRUE.equals(state.getRunning()) ? ServerState.RUNNING : ServerState.DEAD;
    } catch (NotFoundException e) {
      return ServerState.DEAD;
    }
  }

  @Override
  public String identity() {
    String id = container.getContainerId();
    return id == null ? "never started" : "container " + id.substring(0, 12);
  }

  @Override
  public void close() {
    try {
      container.stop();
    } catch (NotFoundException | NotModifiedException e) {
      // It has ended already.
    }
  }

  private void awaitReady() {
    Waiting.until(identity() + " answers", PATIENCE, () -> !ServerInfo.read(address()).isEmpty());
  }

  private DockerClient docker() {
    return container.getDockerClient();
  }
}
