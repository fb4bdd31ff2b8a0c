package dev.redlock.cluster.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.spi.LockKeys;
import io.lettuce.core.codec.CRC16;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Where the keys of a name live if one cluster acts as several nodes. Pure.
 *
 * <p><b>Problem.</b> Each name needs one slot per node, on different masters, and all clients must
 * compute the same slots at all times. A slot that depends on the topology would move when the
 * topology does: a client that knows the new one and a client that knows the old one would take the
 * lock with different keys.
 *
 * <p><b>Chosen way.</b> The slot space is cut into equal ranges, one for each node, at the places
 * where {@code redis-cli --cluster create} cuts it for as many masters. The slot of the name's hash
 * tag, modulo the length of a range, is the position of the name, and its slot for a node is this
 * position in the range of the node. Two slots of a name are at least one range apart. So they are
 * on different masters whenever each master has one contiguous range that is not longer, that is,
 * in every usual layout of at least as many masters as nodes.
 *
 * <p>The hash tag of a key is the tag of the name, followed by {@code ~}, the number of the node,
 * {@code .} and three characters, for example <code>redlock:{orders:42~1.kF2}</code>. The three
 * characters select the slot. CRC16 is linear: the checksum of the whole tag is the checksum of the
 * tag with zeros in their place, xor the checksum of the three characters. One table with three
 * characters for each slot therefore serves every name, without a search.
 */
public final class Spread {
  /** One node for the whole cluster: the keys are those of the name. */
  public static final Spread NONE = new Spread(1);

  private static final char MARK = '~';
  private static final String ALPHABET =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  private static final int CHARS = 3;

  /** {@code ~}, one digit, {@code .} and the characters that select the slot. */
  private static final int SUFFIX = 3 + CHARS;

  private static final int SLOT_MASK = Slots.COUNT - 1;

  /** Three characters for each value of the last 14 bits of their checksum. */
  private static final class Table {
    static final String[] OF = fill();

    private static String[] fill() {
      String[] table = new String[Slots.COUNT];
      int left = Slots.COUNT;
      int n = ALPHABET.length();
      for (int i = 0; i < n * n * n && left > 0; i++) {
        String chars =
            "" + ALPHABET.charAt(i / (n * n)) + ALPHABET.charAt(i / n % n) + ALPHABET.charAt(i % n);
        int sum = CRC16.crc16(chars.getBytes(US_ASCII)) & SLOT_MASK;
        if (table[sum] == null) {
          table[sum] = chars;
          left--;
        }
      }
      assert left == 0;
      return table;
    }
  }

  private final int nodes;
  private final int length;
  private final int[] first;

  private Spread(int nodes) {
    this.nodes = nodes;
    length = Slots.COUNT / nodes;
    first = new int[nodes];
    for (int node = 0; node < nodes; node++) {
      first[node] = Math.round((float) node * Slots.COUNT / nodes);
    }
  }

  /**
   * One cluster as this many nodes.
   *
   * @throws IllegalArgumentException unless there are 3 or 5
   */
  public static Spread over(int nodes) {
    if (nodes != 3 && nodes != 5) {
      throw new IllegalArgumentException(
          "a cluster can be spread over 3 or 5 nodes, not over " + nodes);
    }
    return new Spread(nodes);
  }

  /** The number of nodes. */
  public int nodes() {
    return nodes;
  }

  /** The number of slots of a node, which is the number of positions that names can have. */
  int length() {
    return length;
  }

  /** The first slot of this node. */
  public int first(int node) {
    return first[node];
  }

  /** The last slot of this node. */
  public int last(int node) {
    return first[node] + length - 1;
  }

  /**
   * Whether this node carries the release hints of the name with this slot. One node of each name
   * does: with several, a release would look like several releases to those who wait.
   */
  boolean carriesHints(int node, int slot) {
    return (slot - first[node]) % nodes == node;
  }

  /** The keys that this node uses for the names. */
  public LockKeys keysAt(int node, LockKeys keys) {
    if (nodes == 1) {
      return keys;
    }
    List<String> suffixes = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      suffixes.add(suffix(node, tagOf(keys.lockKeyBytes(i))));
    }
    return keys.withTagSuffixes(suffixes);
  }

  /** The key that this node uses for this lock key. */
  String keyAt(int node, String lockKey) {
    if (nodes == 1) {
      return lockKey;
    }
    int close = lockKey.indexOf('}');
    return lockKey.substring(0, close)
        + suffix(node, tagOf(lockKey.getBytes(UTF_8)))
        + lockKey.substring(close);
  }

  private String suffix(int node, byte[] tag) {
    int slot = first[node] + (CRC16.crc16(tag) & SLOT_MASK) % length;
    byte[] start = new byte[tag.length + SUFFIX];
    System.arraycopy(tag, 0, start, 0, tag.length);
    start[tag.length] = MARK;
    start[tag.length + 1] = (byte) ('0' + node);
    start[tag.length + 2] = '.';
    int missing = (CRC16.crc16(start) ^ slot) & SLOT_MASK;
    return "" + MARK + (char) ('0' + node) + '.' + Table.OF[missing];
  }

  private static byte[] tagOf(byte[] key) {
    int open = 0;
    while (key[open] != '{') {
      open++;
    }
    int close = open;
    while (key[close] != '}') {
      close++;
    }
    return Arrays.copyOfRange(key, open + 1, close);
  }

  /** The node that uses this key, a lock key or another key of a lock; −1 if none does. */
  int nodeOf(String key) {
    if (nodes == 1) {
      return 0;
    }
    int mark = key.indexOf('}') - SUFFIX;
    if (mark < 0 || key.charAt(mark) != MARK || key.charAt(mark + 2) != '.') {
      return -1;
    }
    int node = key.charAt(mark + 1) - '0';
    return node >= 0 && node < nodes ? node : -1;
  }

  /** The key of the lock for this key of the node: without the suffix of the hash tag. */
  String original(String key) {
    if (nodes == 1) {
      return key;
    }
    int close = key.indexOf('}');
    return key.substring(0, close - SUFFIX) + key.substring(close);
  }

  /**
   * The node whose number is lower than that of the given one, and whose slot for the same names is
   * on the same master; −1 if there is none. The vote of that node counts, and the given one's is a
   * second vote of one master.
   *
   * @param slot a slot in the range of the node
   */
  int sharer(int node, int slot, Topology topology) {
    Topology.Server owner = topology.owner(slot);
    if (owner == null) {
      return -1;
    }
    int position = slot - first[node];
    for (int other = 0; other < node; other++) {
      Topology.Server theirs = topology.owner(first[other] + position);
      if (theirs != null && theirs.key().equals(owner.key())) {
        return other;
      }
    }
    return -1;
  }

  /**
   * The positions at which the slot of this node is on the master of a node with a lower number.
   */
  int[] sharedPositions(int node, Topology topology) {
    int[] shared = new int[length];
    int count = 0;
    for (int position = 0; node > 0 && position < length; position++) {
      if (sharer(node, first[node] + position, topology) >= 0) {
        shared[count++] = position;
      }
    }
    return Arrays.copyOf(shared, count);
  }
}
