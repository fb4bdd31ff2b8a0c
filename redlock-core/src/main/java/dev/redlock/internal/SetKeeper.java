package dev.redlock.internal;

import dev.redlock.internal.operations.OperatorClient.OperatedSet;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Membership;
import dev.redlock.internal.sets.Membership.Decision;
import dev.redlock.internal.sets.Seen;
import dev.redlock.internal.sets.Tell;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.RestartGuard;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps this client at the present set of nodes: asks {@link Membership} what the records of the
 * nodes mean, tells nodes what they lack, and connects to new members. Called after each change of
 * a node's status, and twice a second.
 */
final class SetKeeper implements OperatedSet {
  private final ClientContext context;

  /** With what the nodes were started. */
  final LockNode.Context nodeContext;

  private final long guardNanos;

  // Guarded by this.
  private final Membership membership;
  private final BitSet telling = new BitSet();
  private final long[] outsideNanos = new long[Members.MAX];
  private final BitSet outside = new BitSet();
  private final Set<String> reserved = new HashSet<>();

  /** By name: why the last change of its record failed. */
  private final Map<String, String> failed = new HashMap<>();

  private boolean compared;
  private boolean full;
  private boolean begun;
  private boolean ended;

  SetKeeper(ClientContext context, LockNode.Context nodeContext) {
    this.context = context;
    this.nodeContext = nodeContext;
    guardNanos = RestartGuard.guardTime(nodeContext.maxLeaseTime()).toNanos();
    membership =
        new Membership(
            context.nodes.count(),
            nodeContext.observes(),
            context.randomness::deploymentId,
            nodeContext.maxLeaseTime().toMillis(),
            guardNanos,
            context.time.nanos());
  }

  @Override
  public synchronized NodeRecord current() {
    return membership.current();
  }

  /**
   * Decides for the first time, once all nodes are started; until then {@link #review} does
   * nothing. Nodes in memory answer at once: a client of these can lock when this returns.
   *
   * @return as {@link #review}
   */
  BitSet begin() {
    BitSet changed = new BitSet();
    // The first record is proposed, copied, read again, written, copied, then seen: six reviews.
    boolean more = true;
    for (int i = 0; more && i < 6; i++) {
      more = decide(changed);
    }
    synchronized (this) {
      begun = true;
    }
    return changed;
  }

  /**
   * Decides anew what the records mean.
   *
   * @return the nodes that may vote now and might not before, or the other way round
   */
  BitSet review() {
    BitSet changed = new BitSet();
    synchronized (this) {
      if (!begun) {
        return changed;
      }
    }
    decide(changed);
    return changed;
  }

  /** Whether a node has answered meanwhile: there is more to decide. */
  private boolean decide(BitSet changed) {
    List<Tell> tells = new ArrayList<>();
    List<Integer> found = new ArrayList<>();
    List<Integer> gone = new ArrayList<>();
    String line = null;
    synchronized (this) {
      if (ended) {
        return false;
      }
      Members before = context.nodes.members();
      Decision decision = membership.review(seen(), context.time.nanos());
      Members now = decision.members();
      if (!now.equals(before)) {
        context.nodes.members(now, membership.aliases());
        boolean other = !now.isOfSameSet(before);
        line = compared && other ? "now works with " + current() : null;
        for (long bits = now.mask() ^ before.mask(); bits != 0; bits &= bits - 1) {
          changed.set(Long.numberOfTrailingZeros(bits));
        }
        if (other) {
          changed.set(0, context.nodes.count());
        }
      }
      for (int i = 0; i < decision.objections().size(); i++) {
        if (context.nodes.object(i, decision.objections().get(i))) {
          changed.set(i);
        }
      }
      take(decision.tells(), tells);
      connect(decision.missing(), found);
      forgetOthers(now, gone);
    }
    gone.forEach(node -> context.nodes.tell(node, "close", LockNode::close));
    if (line != null) {
      context.log.info("this client {}", line);
    }
    compare();
    boolean answered = false;
    for (Tell tell : tells) {
      answered |= send(tell);
    }
    found.forEach(node -> context.nodes.tell(node, "start", added -> added.start(nodeContext)));
    return answered;
  }

  /** An operator changes the set by this client. */
  synchronized void operates() {
    membership.operates();
  }

  @Override
  public <S> S advance(BiFunction<List<Seen>, NodeRecord, S> step, Function<S, List<Tell>> wanted) {
    S taken;
    List<Tell> tells = new ArrayList<>();
    synchronized (this) {
      taken = step.apply(membership.heard(seen()), membership.current());
      take(wanted.apply(taken), tells);
    }
    tells.forEach(this::send);
    return taken;
  }

  /** Those to nodes that have answered the change before; they do so one after another. */
  private void take(List<Tell> wanted, List<Tell> tells) {
    for (Tell tell : wanted) {
      if (!telling.get(tell.node())) {
        telling.set(tell.node());
        tells.add(tell);
      }
    }
  }

  @Override
  public int reserve(@Nullable String name, boolean needed) {
    if (name == null) {
      return -1;
    }
    LockNode found;
    int index;
    synchronized (this) {
      if (!needed) {
        reserved.remove(name);
        return -1;
      }
      reserved.add(name);
      index = membership.numberOf(name);
      if (index >= 0) {
        return index;
      }
      found = context.nodes.sibling(name);
      if (ended || found instanceof AbsentNode || context.nodes.count() == Members.MAX) {
        return -1;
      }
      index = context.nodes.add(found, name);
      membership.number(index, name);
    }
    // Without a marker the new node stores no record.
    context.nodes.tell(index, "start", added -> added.start(nodeContext.thatWrites()));
    review();
    return index;
  }

  @Override
  public synchronized List<Seen> seen() {
    List<Seen> seen = new ArrayList<>();
    for (int i = 0; i < context.nodes.count(); i++) {
      // Asked for while it decides: it is a call of the node for each event.
      String server =
          membership.current().exists()
              ? ""
              : context.nodes.identity(i).map(NodeIdentity::runId).orElse("");
      seen.add(new Seen(context.nodes.name(i), context.nodes.ownStatus(i), server));
    }
    return seen;
  }

  /** Says once that the configured list is not the set with which this client works. */
  private void compare() {
    NodeRecord record;
    List<String> list;
    synchronized (this) {
      record = membership.current();
      if (compared || !membership.isSettled() || context.nodes.members().epoch() == 0) {
        return;
      }
      compared = true;
      list = membership.seeds();
    }
    Set<String> configured = new TreeSet<>(list);
    if (!configured.equals(new TreeSet<>(record.members()))) {
      context.log.warn(
          "this client is configured with the nodes {}, and the nodes say {}: it works with the"
              + " latter. Change its configuration",
          String.join(", ", configured),
          record);
    }
  }

  @Override
  public synchronized String lastFailure(String name) {
    return failed.getOrDefault(name, "it did not reply");
  }

  /** Whether the node has answered at once. */
  private boolean send(Tell tell) {
    CompletableFuture<?> answered = new CompletableFuture<>();
    context
        .nodes
        .change(tell.node(), tell.change())
        .whenComplete(
            (record, failure) -> {
              boolean more = false;
              synchronized (this) {
                telling.clear(tell.node());
                if (failure != null) {
                  failed.put(context.nodes.name(tell.node()), String.valueOf(failure.getMessage()));
                } else {
                  more = membership.answered(tell, record);
                }
              }
              answered.complete(null);
              if (more) {
                nodeContext.listener().onStatus(context.nodes.node(tell.node()));
              }
            });
    return answered.isDone();
  }

  // New members, and those that are no members any more.

  private void connect(List<String> missing, List<Integer> found) {
    for (String name : missing) {
      if (context.nodes.count() == Members.MAX) {
        if (!full) {
          full = true;
          context.log.error(
              "this client has known {} nodes and can follow no further change of the set ({}):"
                  + " restart it",
              Members.MAX,
              membership.current());
        }
        return;
      }
      int node = context.nodes.add(context.nodes.sibling(name), name);
      membership.number(node, name);
      found.add(node);
    }
  }

  /**
   * A node that is no member is closed once no lease can have a key there; at once if its server is
   * connected under another name.
   */
  private void forgetOthers(Members now, List<Integer> gone) {
    for (int i = 0; i < context.nodes.count(); i++) {
      boolean out =
          now.epoch() > 0
              && !now.contains(i)
              && !membership.isWanted(i)
              && !reserved.contains(membership.nameOf(i));
      if (out && !outside.get(i)) {
        outsideNanos[i] = context.time.nanos();
      }
      outside.set(i, out);
      boolean over = membership.isDouble(i) || context.time.nanos() - outsideNanos[i] > guardNanos;
      if (out && over && !context.nodes.isClosed(i)) {
        membership.forget(i);
        context.nodes.markClosed(i);
        gone.add(i);
      }
    }
  }

  /** No node is added any more. */
  synchronized void close() {
    ended = true;
  }
}
