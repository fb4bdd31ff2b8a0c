package dev.redlock.exhaustive;

import java.util.Set;

/**
 * A short model of a node that can have flaws. Without flaws it equals the {@link RealRule}; a test
 * compares them for every state and request.
 */
record PlainRule(Set<Flaw> flaws) implements NodeRule {

  PlainRule(Flaw... flaws) {
    this(Set.of(flaws));
  }

  @Override
  public int step(int state, Request r) {
    return switch (r.kind()) {
      case ACQUIRE -> acquire(state, r);
      case EXTEND -> extend(state, r);
      case RELEASE -> end(state, r, !flaws.contains(Flaw.RELEASE_RAISES_NOTHING), true);
      case ROLL_BACK -> rollBack(state, r);
    };
  }

  private int acquire(int state, Request r) {
    int owner = NodeRule.owner(state);
    int fence = NodeRule.fence(state);
    boolean ours = owner == r.id();
    int ended = NodeRule.ended(state);
    if (ours && (fence == r.token() || flaws.contains(Flaw.REPEAT_IGNORES_TOKEN))) {
      return with(owner, fence, ended, NodeRule.before(state)) | GRANTED;
    }
    if (owner != 0 && !ours) {
      return state;
    }
    if (r.token() < fence || (r.token() == fence && !flaws.contains(Flaw.SAME_TOKEN_GRANTED))) {
      return state;
    }
    int before = flaws.contains(Flaw.ROLL_BACK_RESTORES_FENCE) ? fence : 0;
    return with(r.id(), r.token(), ended, before) | GRANTED;
  }

  private int extend(int state, Request r) {
    int owner = NodeRule.owner(state);
    int ended = NodeRule.ended(state);
    boolean over = ended >= r.token() && !flaws.contains(Flaw.REPAIR_IGNORES_ENDED);
    if (owner != r.id() && (owner != 0 || over)) {
      return state;
    }
    boolean raise = r.token() > NodeRule.fence(state) || flaws.contains(Flaw.EXTEND_SETS_FENCE);
    int fence = raise ? r.token() : NodeRule.fence(state);
    return with(r.id(), fence, ended, NodeRule.before(state));
  }

  private int rollBack(int state, Request r) {
    if (flaws.contains(Flaw.ROLL_BACK_RESTORES_FENCE)) {
      int owner = NodeRule.owner(state) == r.id() ? 0 : NodeRule.owner(state);
      return with(owner, NodeRule.before(state), NodeRule.ended(state), NodeRule.before(state));
    }
    if (flaws.contains(Flaw.ROLL_BACK_DELETES_FENCE)) {
      return NodeRule.state(NodeRule.owner(state) == r.id() ? 0 : NodeRule.owner(state), 0, 0);
    }
    return end(state, r, true, flaws.contains(Flaw.ROLL_BACK_RAISES_ENDED));
  }

  private int end(int state, Request r, boolean raise, boolean raiseEnded) {
    int owner = NodeRule.owner(state) == r.id() ? 0 : NodeRule.owner(state);
    int fence = NodeRule.fence(state);
    int ended = NodeRule.ended(state);
    if (raise) {
      fence = flaws.contains(Flaw.RELEASE_SETS_FENCE) ? r.token() : Math.max(fence, r.token());
      ended = raiseEnded ? Math.max(ended, r.token()) : ended;
    }
    return with(owner, fence, ended, NodeRule.before(state));
  }

  private static int with(int owner, int fence, int ended, int before) {
    return NodeRule.state(owner, fence, ended) + PLAIN_STATES * before;
  }
}
