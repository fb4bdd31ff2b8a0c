package dev.redlock.spring.boot;

import dev.redlock.spring.RedlockConnectionDetails;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/**
 * The masters of containers with {@code @ServiceConnection(name = "redlock")}. Spring Boot calls
 * this for each container, registers the details of the first one, and ignores those of the others,
 * because a service has one connection. Therefore the details of all containers that this factory
 * is called for share a group, and each of them has the nodes of the whole group.
 *
 * <p>Spring Boot makes a factory for the containers that are beans of one context, and another for
 * those in fields of one test class.
 */
class RedlockContainersFactory
    extends ContainerConnectionDetailsFactory<Container<?>, RedlockConnectionDetails> {
  private static final int REDIS_PORT = 6379;

  /**
   * By the origin: Spring Boot uses one factory again for a context that it makes once more. Is
   * complete before the first node is asked for.
   */
  private final Map<Origin, Master> group = new LinkedHashMap<>();

  /** The connection name is asked for: other containers of an application are no lock masters. */
  RedlockContainersFactory() {
    super("redlock");
  }

  @Override
  protected RedlockConnectionDetails getContainerConnectionDetails(
      ContainerConnectionSource<Container<?>> source) {
    Master master = new Master(source, group);
    group.put(Objects.requireNonNull(source.getOrigin()), master);
    return master;
  }

  /** The details of one container, with the nodes of its whole group. */
  private static final class Master extends ContainerConnectionDetails<Container<?>>
      implements RedlockConnectionDetails {
    private final Map<Origin, Master> group;

    Master(ContainerConnectionSource<Container<?>> source, Map<Origin, Master> group) {
      super(source);
      this.group = group;
    }

    /** Starts the containers. */
    @Override
    public List<String> nodes() {
      List<String> uris = new ArrayList<>();
      for (Master master : group.values()) {
        uris.add(master.uri());
      }
      return uris;
    }

    private String uri() {
      try {
        afterPropertiesSet(); // Spring calls it for the one that is registered.
      } catch (Exception e) {
        throw new IllegalStateException("no container for " + getOrigin(), e);
      }
      Container<?> container = getContainer();
      String scheme = getSslBundle() == null ? "redis" : "rediss";
      return scheme + "://" + container.getHost() + ":" + container.getMappedPort(REDIS_PORT);
    }

    @Override
    public @Nullable SslBundle sslBundle() {
      return group.values().stream()
          .map(Master::getSslBundle)
          .filter(Objects::nonNull)
          .findFirst()
          .orElse(null);
    }

    @Override
    public boolean temporary() {
      return true;
    }
  }
}
