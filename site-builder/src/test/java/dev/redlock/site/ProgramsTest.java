package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Runs the programs of docs/migrating.md once: those before a move with the lock that they come
 * from, and those after it. Each lock has real servers.
 */
class ProgramsTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  /** No etcd server comes as a Maven dependency, and jetcd does not run with Vert.x 5. */
  private static final Set<String> COMPILED_ONLY = Set.of("From etcd");

  private static final Map<String, Object> FIELDS = new HashMap<>();
  private static final Deque<AutoCloseable> OPEN = new ArrayDeque<>();
  private static RedisConnectionFactory redis;
  private static ClassLoader classes;
  @TempDir private static Path folder;

  /** One block of the page, with the heading above it. */
  private record Program(String section, Block block) {
    String name() {
      return section + ", line " + block.line() + ": " + block.before();
    }

    /** The class that it is compiled to. */
    String type() {
      return "Program" + block.line();
    }

    boolean isBefore() {
      return block.before().startsWith("Before");
    }

    boolean isAfter() {
      return block.before().startsWith("After") || block.before().startsWith("Without");
    }

    boolean isUse() {
      return block.before().startsWith("Code that uses");
    }
  }

  @BeforeAll
  static void start() throws Exception {
    compile();
    RedisNodes nodes = open(RedisNodes.start(3));
    List<String> names = List.of("first", "second", "third");
    for (int i = 0; i < names.size(); i++) {
      FIELDS.put(names.get(i), redisson(nodes.uris().get(i)));
    }
    FIELDS.put("redisson", FIELDS.get("first"));

    URI one = URI.create(nodes.uris().get(0));
    LettuceConnectionFactory factory =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(one.getHost(), one.getPort()));
    factory.afterPropertiesSet();
    factory.start();
    OPEN.push(factory::destroy);
    redis = factory;

    Redlock redlock =
        open(
            Redlock.builder()
                .nodes(nodes.uris().toArray(String[]::new))
                .restartGuard(RestartGuard.OFF)
                .build());
    assertThat(redlock.awaitReady(WAIT)).isTrue();
    FIELDS.put("redlock", redlock);
    Vertx vertx = Vertx.vertx();
    OPEN.push(() -> vertx.close().await(WAIT.toSeconds(), TimeUnit.SECONDS));
    FIELDS.put("vertx", vertx);
    FIELDS.put("vertxRedlock", VertxRedlock.wrap(vertx, redlock));

    FIELDS.put("hazelcast", hazelcast());
    TestingServer zooKeeper = open(new TestingServer());
    CuratorFramework curator =
        open(
            CuratorFrameworkFactory.newClient(zooKeeper.getConnectString(), new RetryOneTime(100)));
    curator.start();
    FIELDS.put("curator", curator);
  }

  @AfterAll
  static void stop() throws Exception {
    while (!OPEN.isEmpty()) {
      OPEN.pop().close();
    }
  }

  private static <T extends AutoCloseable> T open(T resource) {
    OPEN.push(resource);
    return resource;
  }

  private static RedissonClient redisson(String uri) {
    org.redisson.config.Config config = new org.redisson.config.Config();
    config
        .useSingleServer()
        .setAddress(uri)
        .setConnectionMinimumIdleSize(1)
        .setConnectionPoolSize(2);
    RedissonClient client = Redisson.create(config);
    OPEN.push(client::shutdown);
    return client;
  }

  /** One member without replication: the lock is that of the CP subsystem, the quorum is not. */
  private static HazelcastInstance hazelcast() {
    Config config = new Config();
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.logging.type", "none");
    config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    HazelcastInstance member = Hazelcast.newHazelcastInstance(config);
    OPEN.push(member::shutdown);
    return member;
  }

  @TestFactory
  List<DynamicTest> programs_ofThePage_runOnce() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (Program program : programs()) {
      boolean runs = !program.isBefore() || !COMPILED_ONLY.contains(program.section());
      if (runs && (program.isBefore() || program.isAfter())) {
        tests.add(dynamicTest(program.name(), () -> run(program)));
      }
    }
    return tests;
  }

  @Test
  void sections_withAJavaProgramBefore_areThoseThatRunAndThoseThatOnlyCompile() throws IOException {
    Set<String> sections =
        programs().stream()
            .filter(Program::isBefore)
            .map(Program::section)
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(sections).hasSize(8).containsAll(COMPILED_ONLY);
    assertThat(page())
        .as("the source of the page says what does not run")
        .contains("<!-- ProgramsTest. not run: etcd");
  }

  private static String page() throws IOException {
    return Files.readString(Repository.ROOT.resolve("docs/migrating.md"));
  }

  private static List<Program> programs() throws IOException {
    String page = page();
    List<String> lines = page.lines().toList();
    List<Program> programs = new ArrayList<>();
    for (Block block : Block.of("migrating.md", page)) {
      if (block.language().equals("java")) {
        String section =
            lines.subList(0, block.line()).stream()
                .filter(line -> line.startsWith("## "))
                .reduce("", (above, line) -> line.substring(3));
        programs.add(new Program(section, block));
      }
    }
    return programs;
  }

  private static void run(Program program) throws Exception {
    Object instance = instance(program);
    Method method =
        Arrays.stream(instance.getClass().getDeclaredMethods())
            .filter(m -> m.getName().equals("statements") || isBean(m))
            .findFirst()
            .orElseThrow();
    method.setAccessible(true);
    if (!isBean(method)) {
      method.invoke(instance);
      assertDone(instance);
      return;
    }
    Object bean =
        method.invoke(
            instance,
            method.getParameterTypes()[0] == Redlock.class ? FIELDS.get("redlock") : redis);
    if (bean instanceof LockProvider provider) {
      List<String> done = new ArrayList<>();
      new DefaultLockingTaskExecutor(provider)
          .executeWithLock(
              (Runnable) () -> done.add("task"),
              new LockConfiguration(Instant.now(), "task", Duration.ofSeconds(10), Duration.ZERO));
      assertThat(done).containsExactly("task");
    } else {
      assertThat(bean).isInstanceOf(LockRegistry.class);
      FIELDS.put("registry", bean);
      Program use =
          programs().stream()
              .filter(other -> other.section().equals(program.section()) && other.isUse())
              .findFirst()
              .orElseThrow();
      run(use);
    }
  }

  private static boolean isBean(Method method) {
    return Arrays.stream(method.getAnnotations())
        .anyMatch(annotation -> annotation.annotationType().getSimpleName().equals("Bean"));
  }

  /** Futures complete later. */
  private static void assertDone(Object instance) throws Exception {
    BlockingQueue<?> done = (BlockingQueue<?>) field(instance, "done").get(instance);
    assertThat(done.poll(WAIT.toMillis(), TimeUnit.MILLISECONDS)).isNotNull();
    assertThat(done).isEmpty();
  }

  /** Compiles all programs of the page into the folder. */
  private static void compile() throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-nowarn",
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("java.class.path")));
    for (Program program : programs()) {
      String source =
          new Snippet("migrating", program.block().line(), program.block().code())
              .source(program.type(), SnippetsTest.scope("migrating"))
              .replace("abstract class " + program.type(), "class " + program.type());
      arguments.add(Files.writeString(folder.resolve(program.type() + ".java"), source).toString());
    }
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    assertThat(status).isZero();
    classes =
        open(
            new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, ProgramsTest.class.getClassLoader()));
  }

  private static Object instance(Program program) throws Exception {
    Constructor<?> constructor =
        classes
            .loadClass(program.type().toLowerCase(Locale.ROOT) + "." + program.type())
            .getDeclaredConstructor();
    constructor.setAccessible(true);
    Object instance = constructor.newInstance();
    for (Map.Entry<String, Object> entry : FIELDS.entrySet()) {
      field(instance, entry.getKey()).set(instance, entry.getValue());
    }
    return instance;
  }

  private static Field field(Object instance, String name) throws NoSuchFieldException {
    Field field = instance.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
