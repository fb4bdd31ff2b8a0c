package dev.redlock.operations;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * The methods of a client for operators, and for programs that show or check the state of locks and
 * nodes; see {@link dev.redlock.Redlock#operations()}. Safe from any thread. Once the client is
 * closed, calls that would ask the nodes fail with {@link dev.redlock.RedlockClosedException}.
 *
 * <p>All but {@link #nodes()}, {@link #ready()} and {@link #unwrap} are in the module {@code
 * redlock-operations}, which {@code redlock-lettuce} brings along. Without it they throw an {@link
 * UnsupportedOperationException} that names it.
 */
public interface Operations {

  /**
   * Reports what each node stores for the name. Completes within the default node timeout; changes
   * nothing.
   */
  default CompletionStage<LockInspection> inspect(String name) {
    throw missing();
  }

  /**
   * Takes the lock from its holder, for operators. Deletes the keys on all nodes that reply; the
   * holder can neither extend nor repair them. Its lease ends as {@link dev.redlock.LeaseEnd#LOST}
   * at its next round, or at once if an invalidation arrives. Until then the holder may continue to
   * work, and may hand the lock off locally within a node timeout of its grant: only the fencing
   * token protects the resource.
   *
   * @return what each node stored before; fails with {@link dev.redlock.QuorumUnavailableException}
   *     if fewer nodes than a quorum confirmed
   */
  default CompletionStage<LockInspection> breakLock(String name) {
    throw missing();
  }

  /**
   * Lists the held locks of all clients with this key prefix, for operators. Lists the names that
   * match the pattern, in which {@code *} stands for any text, {@code ?} for one character, and a
   * backslash quotes.
   *
   * <p>Scans all keys of N − quorum + 1 nodes, one after another. Pauses between steps, so that it
   * hardly delays other requests. The listing is not a snapshot. It contains each lock that the
   * same nodes store during the whole listing. If a lock is granted, ends or is repaired during the
   * listing, the listing contains it once, twice or not at all. If a node fails during the listing,
   * its locks may appear twice. A node that cannot be read counts as if it stored each lock. A lock
   * on several names appears once for each name. Sends nothing before {@link LockListing#next()}.
   * Close the listing if you do not read it to its end.
   *
   * <p>The Redis user needs the permission {@code +scan}. In a Redis Cluster this method scans all
   * masters. If the slot of a lock moves during the listing, the lock may be missing, or appear
   * twice.
   *
   * @throws dev.redlock.RedlockClosedException if the client is closed
   */
  default LockListing list(String pattern) {
    throw missing();
  }

  /**
   * Reports the state of a lock and each change of it, without acquiring it: whether it is held,
   * and by whom. Each subscriber receives the current state first. Changes arrive by invalidations,
   * or within {@link dev.redlock.LockOptions#pollInterval()} of the default options if the nodes
   * send none. There are no two equal states in a row. If a subscriber is slow, or a lock changes
   * more often than 50 times per second, the subscriber misses states in between, but not the last
   * state.
   *
   * <p>Calls the subscriber on the callback executor. Completes when the client is closed.
   *
   * @throws dev.redlock.RedlockClosedException if the client is closed
   */
  default Flow.Publisher<LockState> watch(String name) {
    throw missing();
  }

  /**
   * Finds what makes locks unsafe or unavailable: clocks that differ, an eviction policy that drops
   * keys, replicas, nodes that do not vote. For operators and checks at start-up. Reads only;
   * completes within the default node timeout, even if nodes do not reply.
   */
  default CompletionStage<Diagnosis> doctor() {
    throw missing();
  }

  /**
   * Completes when a quorum of nodes votes, so that a free lock can be acquired; at once if a
   * quorum votes now. {@link dev.redlock.RedlockBuilder#build()} returns before any node is
   * connected, so a {@code tryAcquire} right after it would fail. The quorum may be lost again
   * later.
   *
   * <p>Fails with {@link dev.redlock.RedlockClosedException} if the client is closed before. Does
   * not fail for unreachable nodes: the client connects to them again and again. A master that has
   * just started does not vote before it is {@code max(maxLeaseTime, 5 s) + 2 s} old, unless the
   * restart guard is off. Completes on the callback executor.
   */
  CompletionStage<Void> ready();

  /**
   * Adds a master to the set of nodes while all clients run. They follow within a second; leases,
   * elections and waiting callers are not disturbed. The new master has to be reachable, old enough
   * to vote, no replica and none of the other servers; each member has to be reachable, because
   * each must store the new set. Takes one guard time, {@code max(maxLeaseTime, 5 s) + 2 s}:
   * afterwards no lease of the set before is left, and the next change may begin.
   *
   * <p>If this process dies, the same call in another one continues. Operators exclude each other
   * by the lock {@code %set}. See {@code docs/runbooks.md} for when to change the set, and {@code
   * docs/safety.md} for what a node may forget meanwhile.
   *
   * @param node the address {@code host:port}, or a URI of which only that counts: user, password
   *     and TLS are those of the other nodes
   * @param progress receives each step once, a wait each second, on the callback executor
   * @return the names of the members afterwards; fails with {@link IllegalStateException} and a
   *     reason if the change was refused, and with {@link dev.redlock.LeaseLostException} if this
   *     client lost that lock: the same call continues. A master that is a member already changes
   *     nothing
   */
  default CompletionStage<List<String>> addNode(String node, Consumer<SetProgress> progress) {
    throw missing();
  }

  /**
   * Removes a master, as {@link #addNode} adds one. A name that is no member changes nothing. It
   * may be dead. If it is only cut off, it still has the record of the set in which it was a
   * member: while that is so, no other member may lose its keys. Keep it switched off, or let it be
   * reached once.
   *
   * @param name its name, as {@link #nodes()} shows it
   */
  default CompletionStage<List<String>> removeNode(String name, Consumer<SetProgress> progress) {
    return removeNode(name, Set.of(), progress);
  }

  /**
   * The same while other members are gone for good too. Each member must store the new set, so
   * without this a change waits for them. Two leases of one name are possible if one of them comes
   * back with its data, and another member then loses its keys.
   *
   * @param gone the names of members that never come back, or only without their data
   */
  default CompletionStage<List<String>> removeNode(
      String name, Set<String> gone, Consumer<SetProgress> progress) {
    throw missing();
  }

  /**
   * Replaces a master by another: two changes, and two guard times. A member that can be reached is
   * removed after the new one was added; one that is dead is removed before.
   */
  default CompletionStage<List<String>> replaceNode(
      String name, String node, Consumer<SetProgress> progress) {
    return replaceNode(name, node, Set.of(), progress);
  }

  /** The same while other members are gone for good too, as in {@link #removeNode}. */
  default CompletionStage<List<String>> replaceNode(
      String name, String node, Set<String> gone, Consumer<SetProgress> progress) {
    throw missing();
  }

  /**
   * Gives up what a master says of the set of nodes: deletes its record. For a master of which the
   * record belongs to another deployment that is given up, or to a program that began a deployment
   * and did not complete it. The master is then as after a restart without keys: it stays out for
   * {@code max(maxLeaseTime, 5 s) + 2 s}, and becomes a member again if another member names it.
   *
   * @param node its name, as {@link #nodes()} shows it
   * @return fails with {@link IllegalStateException} if this client does not reach it, or if its
   *     record has changed meanwhile
   */
  default CompletionStage<Void> forgetRecord(String node) {
    throw missing();
  }

  /**
   * Changes the longest lease time of the deployment while all clients run. Each node stores it,
   * and does not count for a client whose own {@code maxLeaseTime} is longer. So raise that of the
   * nodes first, and then that of the clients, one after another; lower that of the clients first.
   * Takes one guard time of the longer value, during which the shorter one is allowed, and nodes
   * that have lost their keys stay out for the longer one. For the rest, as {@link #addNode}.
   *
   * @param maxLeaseTime at most 1 h, and not shorter than that of this client
   * @throws IllegalArgumentException if it is not positive, or longer than 1 h
   */
  default CompletionStage<Void> changeMaxLeaseTime(
      Duration maxLeaseTime, Consumer<SetProgress> progress) {
    throw missing();
  }

  /** The state of each node's connection, in the order of configuration. Sends nothing. */
  List<NodeState> nodes();

  /**
   * Returns the client that {@link dev.redlock.Redlock#builder()} made, as this type. Modules of
   * the library that need more of a client than this interface has call it, for example elections.
   * A decorator passes the call on to the client that it decorates.
   *
   * @throws IllegalArgumentException if the client does not have this type
   */
  <T> T unwrap(Class<T> type);

  private static UnsupportedOperationException missing() {
    return new UnsupportedOperationException(
        "the methods for operators are in a module of their own: add"
            + " dev.redlock:redlock-operations to the class path, or to the module path");
  }
}
