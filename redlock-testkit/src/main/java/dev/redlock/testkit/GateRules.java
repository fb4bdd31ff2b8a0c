package dev.redlock.testkit;

/** The rules that a gate applies to bytes now. Confined to the gate's thread. */
final class GateRules {

  static final long NO_BUDGET = Long.MAX_VALUE;

  boolean cut;
  boolean dropsToNode;
  boolean dropsFromNode;
  long delayToNodeNanos;
  long delayFromNodeNanos;

  /** How many bytes of replies may still pass before the gate is cut. */
  long replyBudget = NO_BUDGET;

  void clear() {
    cut = false;
    dropsToNode = false;
    dropsFromNode = false;
    delayToNodeNanos = 0;
    delayFromNodeNanos = 0;
    replyBudget = NO_BUDGET;
  }

  boolean blackHole() {
    return dropsToNode && dropsFromNode;
  }

  String describe() {
    if (cut) {
      return "cut";
    }
    StringBuilder words = new StringBuilder();
    if (blackHole()) {
      words.append(" black hole");
    } else if (dropsToNode) {
      words.append(" drops requests");
    } else if (dropsFromNode) {
      words.append(" drops replies");
    }
    if (delayToNodeNanos > 0 || delayFromNodeNanos > 0) {
      words.append(" delays ").append(delayToNodeNanos / 1_000).append(" us to the node, ");
      words.append(delayFromNodeNanos / 1_000).append(" us from it");
    }
    if (replyBudget != NO_BUDGET) {
      words.append(" cut after ").append(replyBudget).append(" more reply bytes");
    }
    return words.isEmpty() ? "open" : words.substring(1);
  }
}
