package dev.redlock.exhaustive;

import java.util.EnumSet;
import java.util.Set;

/**
 * How far a search goes, and what it checks.
 *
 * @param nodes how many nodes
 * @param quorum how many grants make a lease; 0 lets a client win at any time, which covers one
 *     node of a set of any size
 * @param clients how many clients
 * @param attempts how many attempts each makes, one after the other
 * @param forgets how often some node loses all its keys and votes again at once
 * @param toTheEnd whether to continue when no further lease is possible
 * @param foldNodes whether states that differ in the order of the nodes are taken as one
 * @param node what a node does
 * @param flaws the flaws of the clients
 * @param checks what must hold
 */
record Scope(
    int nodes,
    int quorum,
    int clients,
    int attempts,
    int forgets,
    boolean toTheEnd,
    boolean foldNodes,
    NodeRule node,
    Set<Flaw> flaws,
    Set<Check> checks) {

  enum Check {
    /** No two leases have the same token. */
    DISTINCT,
    /** A lease that was granted before another was asked for has the smaller token. */
    ORDERED,
    /** A lease that is granted later has the higher token: not promised, see the test. */
    LATER_IS_HIGHER,
    /** Neither the fence of a node nor its {@code ended} ever decreases. */
    FENCE_NEVER_FALLS,
    /** The token of a new grant is above the fence and becomes the fence. */
    GRANTS_RISE,
    /** A lease that a node was told to free never returns there. */
    FREED_FOR_GOOD,
    /** {@code ended} is only the token of a lease that has ended. */
    ENDED_WAS_A_LEASE;

    static final Set<Check> TOKENS = EnumSet.of(DISTINCT, ORDERED);
    static final Set<Check> ON_ONE_NODE =
        EnumSet.of(FENCE_NEVER_FALLS, GRANTS_RISE, FREED_FOR_GOOD, ENDED_WAS_A_LEASE);
  }

  static Scope of(int nodes, int quorum, int clients, int attempts, NodeRule node) {
    return new Scope(
        nodes, quorum, clients, attempts, 0, false, true, node, Set.of(), Check.TOKENS);
  }

  Scope forgetting(int times) {
    return new Scope(
        nodes, quorum, clients, attempts, times, toTheEnd, foldNodes, node, flaws, checks);
  }

  Scope flawed(Flaw... clientFlaws) {
    return new Scope(
        nodes,
        quorum,
        clients,
        attempts,
        forgets,
        toTheEnd,
        foldNodes,
        node,
        Set.of(clientFlaws),
        checks);
  }

  Scope checking(Set<Check> what) {
    return new Scope(
        nodes, quorum, clients, attempts, forgets, toTheEnd, foldNodes, node, flaws, what);
  }

  Scope goingToTheEnd() {
    return new Scope(
        nodes, quorum, clients, attempts, forgets, true, foldNodes, node, flaws, checks);
  }

  Scope unfolded() {
    return new Scope(
        nodes, quorum, clients, attempts, forgets, toTheEnd, false, node, flaws, checks);
  }
}
