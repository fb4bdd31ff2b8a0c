package dev.redlock.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Marks a test class that uses {@link RedisNodes}. JUnit passes them as a parameter to its
 * constructor, its test methods and its lifecycle methods.
 *
 * <pre>{@code
 * @RedisTest(nodes = 3, gated = true)
 * class ShopTest {
 *   @Test
 *   void order_oneMasterDown_goesThrough(RedisNodes nodes) {
 *     nodes.get(0).kill();
 *     …
 *   }
 * }
 * }</pre>
 *
 * <p>All tests of the class and of its nested classes share the nodes, and run one after another.
 * After each test the extension ends all faults and removes all data (see {@link
 * RedisNodes#endFaults()}); that is much faster than starting new nodes. When a test fails, the
 * extension prints the state of each node at that moment to standard error.
 *
 * <p>After each test that passed, the extension checks on every node:
 *
 * <ul>
 *   <li>every key that starts with {@link #keyPrefix()} has a time to live, except the node's
 *       marker;
 *   <li>no lock key remains, unless {@link #locksMayRemain()}. Clients have 2 s to finish their
 *       cleanup in the background. Close clients in {@code @AfterEach} at the latest.
 * </ul>
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RedisNodesExtension.class)
@Execution(ExecutionMode.SAME_THREAD)
public @interface RedisTest {

  /** The number of nodes. */
  int nodes() default 5;

  /** Whether each node is behind a {@link TcpGate}. */
  boolean gated() default false;

  /** Whether the nodes keep an append-only file, for {@link RedisNode#restartKeepingData()}. */
  boolean appendOnly() default false;

  /** Additional command line options for each server. */
  String[] serverArgs() default {};

  /**
   * The source of the servers. {@link RedisSource#AUTO} means the source that {@code
   * -Dredlock.redis} names. If another source is set and not usable on this machine, the class is
   * skipped with the reason. If no source at all is usable, the class fails.
   */
  RedisSource source() default RedisSource.AUTO;

  /** The prefix of the keys of locks. */
  String keyPrefix() default "redlock:";

  /** Whether lock keys may remain after a test. They must have a time to live in any case. */
  boolean locksMayRemain() default false;
}
