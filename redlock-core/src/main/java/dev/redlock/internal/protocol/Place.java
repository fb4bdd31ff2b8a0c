package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.jspecify.annotations.Nullable;

/**
 * The place of this process in the queue of the home node, as that node and hints say. A process
 * that misses its turn loses some time only:
 *
 * <ul>
 *   <li>The release also warns the second. If the first is silent for a while, the second passes it
 *       over.
 *   <li>The first asks again when the key of the holder has expired, the second a little later. The
 *       first also listens to another node, in case the home node hangs.
 *   <li>Each waiter asks again after the poll interval, or up to three further back.
 * </ul>
 *
 * @param node the node in whose queue this process sleeps, or −1
 * @param ahead how many processes are before this one in the queue
 * @param request the newest request to be queued to which a node replied HELD or QUEUED, or null:
 *     for reports
 */
record Place(int node, int ahead, @Nullable QueueRequest request) {
  /** So long a newcomer trusts those before it. */
  private static final long MAX_TURNS_NANOS = 250_000_000;

  /** The longest sleep, in poll intervals. The home node drops a process that does not ask. */
  static final int MAX_POLLS = 3;

  /** So many places further back, a waiter polls one poll interval later. */
  private static final int PLACES_PER_POLL = 32;

  /** Such a process did not come to its turn by being served in order. */
  private static final int FAR = 5;

  private static final int UNKNOWN = Integer.MAX_VALUE;

  /** No place, as far as is known. */
  static final Place NONE = new Place(-1, UNKNOWN, null);

  /** The reply to this request says that it is the turn of this process. */
  Place admitted(QueueRequest by) {
    return new Place(by.node, 0, request);
  }

  /** The reply to this request says that the process is queued. */
  static Place queued(QueueRequest request, NodeReply reply) {
    return new Place(request.node, reply.othersQueued(), request);
  }

  Place ahead(int processes) {
    return new Place(node, processes, request);
  }

  /** The lock was released: the first of those before this process is served, if there is one. */
  Place nearer() {
    return isKnown() && ahead > 0 ? ahead(ahead - 1) : this;
  }

  boolean isKnown() {
    return ahead != UNKNOWN;
  }

  boolean isFirst() {
    return ahead == 0;
  }

  boolean isFar() {
    return isKnown() && ahead >= FAR;
  }

  /** When the lock may be free for this process, as the reply that has queued it says. */
  long freeNanos(NodeReply reply, long quorumFreeNanos, HomeNode home, long now) {
    long patience = home.turnPatience(node);
    long again = reply.remainingMillis() * 1_000_000L;
    if (reply.code() == Code.QUEUED) { // It is the turn of another process.
      // The second passes the first over. If both are dead, one of the others has to ask.
      long turns = Math.min(Math.max(1, ahead) * patience, Math.max(MAX_TURNS_NANOS, patience));
      return now + (again > 0 ? again + 1_000_000 : turns);
    }
    long until = now + again + 1_000_000L;
    if (reply.remainingMillis() < 0) { // The node does not store the lease that holds the lock.
      until = quorumFreeNanos - now > 0 ? quorumFreeNanos : now + patience;
    }
    return until + Math.min(1, ahead) * patience;
  }

  /** When this process asks again, if it hears nothing. */
  long pollNanos(LockOptions options, Randomness random, long now) {
    long poll = Math.min(options.pollInterval().toNanos(), options.leaseTime().toNanos() / 3);
    double later = Math.min(MAX_POLLS - 1.5, (double) ahead / PLACES_PER_POLL);
    return now + (long) (poll * (0.5 + random.next() + later));
  }
}
