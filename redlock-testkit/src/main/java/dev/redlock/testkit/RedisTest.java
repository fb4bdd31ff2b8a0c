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
 * A test class that gets {@link RedisNodes}: as a parameter of its constructor, its test methods or
 * its lifecycle methods.
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
 * <p>All tests of the class, also of classes nested in it, share the nodes; after each test faults
 * are ended and data is removed (see {@link RedisNodes#heal()}), which is far faster than starting
 * others. So these tests run one after the other. When a test fails, the state of each node at that
 * moment is printed to standard error.
 *
 * <p>After each test that passed it is checked, on every node,
 *
 * <ul>
 *   <li>that every key below {@link #keyPrefix()} has a time to live, but for the node's marker;
 *   <li>that no lock is left, unless {@link #locksMayRemain()}: what a client still cleans up in
 *       the background has two seconds for it. Close clients in {@code @AfterEach}, at the latest.
 * </ul>
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RedisNodesExtension.class)
@Execution(ExecutionMode.SAME_THREAD)
public @interface RedisTest {

  /** How many nodes. */
  int nodes() default 5;

  /** Whether each node is behind a {@link TcpGate}. */
  boolean gated() default false;

  /** Whether the nodes keep an append-only file, for {@link RedisNode#restartKeepingData()}. */
  boolean appendOnly() default false;

  /** Further command line options for each server. */
  String[] serverArgs() default {};

  /**
   * Where servers come from; {@link RedisSource#AUTO} is what {@code -Dredlock.redis} says. If
   * another is asked for and cannot be had here, the class is skipped and the reason told. Without
   * any Redis at all, it fails.
   */
  RedisSource source() default RedisSource.AUTO;

  /** What the keys of locks begin with. */
  String keyPrefix() default "redlock:";

  /** Whether a lock may be left after a test; its keys must have a time to live all the same. */
  boolean locksMayRemain() default false;
}
