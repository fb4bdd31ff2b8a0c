package dev.redlock.cluster.internal;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that the masters of one cluster serve: one, or several of a {@link Spread} cluster.
 * Computes their states from the states of the {@link MasterLinks}, and finds the nodes that an
 * event of a key or of a link concerns.
 */
final class Shares {
  private final Spread spread;
  private final boolean sharingAllowed;
  private final LockNode.Context context;
  private final MasterLinks links;
  private final Time time;

  /** How each node shares masters with nodes of a lower number. */
  private final SharedVotes sharedVotes;

  /** The nodes that were started, in that order. Written under this; so are their states. */
  private final List<Share> all = new CopyOnWriteArrayList<>();

  // Guarded by this.
  private long reviews;

  /** The newest review that has asked the client for an objection, and the answer. */
  private long asked;

  private @Nullable String refusal;

  /**
   * @param sharingAllowed whether two votes of one master count
   * @param context of the node that starts first; only its listener differs from that of the others
   */
  Shares(
      String name,
      Spread spread,
      boolean sharingAllowed,
      LockNode.Context context,
      MasterLinks links) {
    this.spread = spread;
    this.sharingAllowed = sharingAllowed;
    this.context = context;
    this.links = links;
    time = context.time();
    sharedVotes = new SharedVotes(name, spread, sharingAllowed);
  }

  /** Adds a node that the masters serve. */
  Share add(LockNode self, int node, LockNode.Context its) {
    if (!its.maxLeaseTime().equals(context.maxLeaseTime())
        || its.restartGuard() != context.restartGuard()
        || !its.keyPrefix().equals(context.keyPrefix())) {
      throw new IllegalArgumentException(
          self.name() + ": the nodes of one spread cluster must belong to one client");
    }
    Share share = new Share(self, spread, node, its.listener(), time.nanos());
    synchronized (this) {
      all.add(share);
    }
    return share;
  }

  /** Closes a node; the others stay. Returns whether it was the last one. */
  boolean close(Share share) {
    boolean done;
    synchronized (this) {
      done = share.close(time.nanos());
    }
    if (done) {
      share.tellStatus();
    }
    return all.stream().allMatch(Share::isClosed);
  }

  /**
   * Why this node's vote on the name in this slot must not count: its master votes for another node
   * already. Null if it may count.
   */
  @Nullable String secondVote(Share share, int slot) {
    int sharer = sharingAllowed ? -1 : share.sharer(slot, links.topology());
    if (sharer < 0) {
      return null;
    }
    return "slot "
        + slot
        + " is on master "
        + links.addressOf(slot).orElse("?")
        + ", which has slot "
        + (slot - spread.first(share.node()) + spread.first(sharer))
        + " of the same name too: one master must not have two votes";
  }

  /** The identity of a node: that of the cluster, with what its masters report. */
  Optional<NodeIdentity> identity(Share share) {
    return links.identity(linksOf(share));
  }

  /** The same, after each master of the node was probed again. */
  CompletionStage<Optional<NodeIdentity>> probe(Share share) {
    CompletableFuture<?>[] probes =
        linksOf(share).stream()
            .map(link -> link.probe().toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    return CompletableFuture.allOf(probes).thenApply(done -> identity(share));
  }

  /** The links to the masters of the slots of this node, as far as they are known. */
  private List<MasterLink> linksOf(Share share) {
    return links.existing(share.firstSlot(), share.lastSlot());
  }

  // The states of the nodes.

  /** The cluster has not reported any topology yet, for this reason. */
  synchronized void unknown(String cause) {
    all.forEach(share -> share.unknown(cause));
  }

  /** Other servers serve some slots. */
  void onTopology(Topology topology) {
    sharedVotes.onTopology(topology);
  }

  /**
   * Computes the states of the nodes. Several threads may do so at the same time. The client is
   * asked for an objection outside the lock; an answer that comes late replaces no newer one.
   *
   * @param lost the links whose earlier replies no longer count
   * @param changed whether the listeners are called even if the state is the same
   */
  void review(List<MasterLink> lost, boolean changed) {
    long review;
    synchronized (this) {
      review = ++reviews;
    }
    NodeIdentity known = links.identity(links.all()).orElse(null);
    // The nodes of one cluster are one cluster to the client: the first of them answers for all.
    String answer = known == null || all.isEmpty() ? null : all.get(0).objectionTo(known);
    for (Share share : all) {
      boolean told;
      synchronized (this) {
        if (review > asked) {
          asked = review;
          refusal = answer;
        }
        String objection = refusal == null ? sharedVotes.objection(share.node()) : refusal;
        boolean loses = !lost.isEmpty() && affects(lost, share);
        boolean other = assess(share, objection, loses);
        told = !links.isClosed() && !share.isClosed() && (changed || loses || other);
      }
      if (told) {
        share.tellStatus();
      }
    }
    lost.stream()
        .filter(link -> !links.include(link))
        .forEach(link -> all.forEach(share -> share.forget(link)));
  }

  private boolean assess(Share share, @Nullable String objection, boolean lost) {
    List<ClusterStatus.Part> parts = new ArrayList<>();
    for (MasterLink link : linksOf(share)) {
      parts.add(new ClusterStatus.Part(link.name(), link.status()));
    }
    boolean before = share.waitsForOthers();
    boolean changed = share.assess(parts, objection, lost, time.nanos());
    if (share.waitsForOthers() && !before) {
      time.schedule(() -> review(List.of(), false), ClusterStatus.GRACE.toNanos());
    }
    return changed;
  }

  /** Whether replies of these links may be votes of the node. */
  private boolean affects(List<MasterLink> some, Share share) {
    Topology known = links.topology();
    return some.stream()
        .anyMatch(
            link ->
                links.include(link)
                    ? share.uses(link, links.serverOf(link), known)
                    : share.hasVoteOf(link)); // No longer a master: only what it did counts.
  }

  // Events.

  /** Tells the nodes that use this key. */
  void ofKey(String key, Consumer<Share> tell) {
    int node = spread.nodeOf(key);
    all.stream().filter(share -> share.node() == node).forEach(tell);
  }

  /** Tells the nodes of which replies of this link may be votes. */
  void ofLink(MasterLink link, Consumer<Share> tell) {
    List<MasterLink> one = List.of(link);
    all.stream().filter(share -> affects(one, share)).forEach(tell);
  }
}
