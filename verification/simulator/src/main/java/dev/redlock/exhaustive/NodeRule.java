package dev.redlock.exhaustive;

/**
 * What one node does with one request. Its state is what it stores for one name, packed into a
 * small number: the lease id under the key, the fence and {@code ended}, each from 0 to {@link
 * #TOP} (0 for none). A fourth slot is used by flawed nodes only.
 */
interface NodeRule {
  /** Highest lease id, and highest token. */
  int TOP = 4;

  int BASE = TOP + 1;

  /** How many different states there are without the fourth slot. */
  int PLAIN_STATES = BASE * BASE * BASE;

  int STATES = PLAIN_STATES * BASE;

  /** Set in the result of {@link #step} when the node replied GRANTED. */
  int GRANTED = 1 << 16;

  enum Kind {
    ACQUIRE,
    EXTEND,
    RELEASE,
    ROLL_BACK
  }

  /** One request. */
  record Request(Kind kind, int id, int token) {}

  /** The state afterwards, with {@link #GRANTED} if that was the reply. */
  int step(int state, Request request);

  static int state(int owner, int fence, int ended) {
    return owner + BASE * (fence + BASE * ended);
  }

  static int owner(int state) {
    return state % BASE;
  }

  static int fence(int state) {
    return state / BASE % BASE;
  }

  static int ended(int state) {
    return state / (BASE * BASE) % BASE;
  }

  /** The fourth slot. */
  static int before(int state) {
    return state / PLAIN_STATES;
  }

  /** The key has expired, or an administrator has deleted it. */
  static int expired(int state) {
    return state - owner(state);
  }

  static String describe(int state) {
    return "{owner %d fence %d ended %d}".formatted(owner(state), fence(state), ended(state));
  }
}
