package dev.redlock.spring.boot;

import dev.redlock.spring.RedlockBuilderCustomizer;
import dev.redlock.spring.RedlockConnectionDetails;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Makes Spring destroy all other beans before the one that closes the client, except for those that
 * the client needs. Spring destroys beans in the reverse order of their creation, unless it knows
 * that one depends on another. It does not know this of an executor whose tasks use the client.
 *
 * @param closer the bean that closes the client
 */
record DestructionOrder(ConfigurableListableBeanFactory beans, String closer) {
  /** The parts of the client that {@link RedlockAutoConfiguration} looks up by their type. */
  private static final List<Class<?>> PARTS =
      List.of(
          RedlockConnectionDetails.class, RedlockBuilderCustomizer.class, ClientDecorator.class);

  /** Containers of tests may be the masters. Spring does not know that the client needs them. */
  private static final String CONTAINER = "org.testcontainers.lifecycle.Startable";

  void destroyUsersFirst() {
    Set<String> needed = needed();
    String[] names = beans.getSingletonNames();
    for (int i = names.length - 1; i >= 0; i--) { // Newest first, as Spring does it.
      if (!needed.contains(names[i])
          && beans.containsBeanDefinition(names[i])
          && !isContainer(beans.getSingleton(names[i]))) {
        beans.registerDependentBean(closer, names[i]);
      }
    }
  }

  private Set<String> needed() {
    Set<String> needed = new HashSet<>();
    addWithDependencies(closer, needed);
    for (Class<?> part : PARTS) {
      for (String name : beans.getBeanNamesForType(part, true, false)) {
        addWithDependencies(name, needed);
      }
    }
    return needed;
  }

  private void addWithDependencies(String name, Set<String> all) {
    if (all.add(name)) {
      for (String dependency : beans.getDependenciesForBean(name)) {
        addWithDependencies(dependency, all);
      }
    }
  }

  private static boolean isContainer(@Nullable Object bean) {
    return bean != null
        && ClassUtils.getAllInterfacesForClassAsSet(bean.getClass()).stream()
            .anyMatch(type -> type.getName().equals(CONTAINER));
  }
}
