package dev.redlock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Utf8;
import com.google.common.escape.CharEscaper;
import dev.redlock.internal.text.PercentEncoding;
import dev.redlock.internal.text.Printable;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The Redis keys of a set of names, sorted and without duplicates, so that equal sets have equal
 * keys.
 *
 * <p>All keys of one name share one hash tag: {@code redlock:{name}} the lock, {@code
 * redlock:{name}:fence}, {@code redlock:{name}:1:queue}, and for each process that waits {@code
 * redlock:{name}:1:wake:process} and {@code redlock:{name}:1:watch:process}; the number is that of
 * the format of keys and scripts. A name with one well-formed hash tag, {@code buy_{42}}, keeps it:
 * {@code redlock:{42}:buy_{}}. Other braces, {@code %} and control characters are percent-encoded;
 * outside a name's own tag {@code :} is encoded too. So no name can select the slot of another
 * name, and no two keys collide.
 */
public final class LockKeys {
  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_NAME_BYTES = 512;

  /**
   * The greatest number of names of one lock. One script call covers all of them, and all other
   * locks on the master wait for it: some milliseconds for this number of names.
   */
  public static final int MAX_NAMES = 1_000;

  /** What follows a lock key in the key of the queue of that name. */
  public static final String QUEUE = ":1:queue";

  /** What follows a lock key in a wake key, before the process. */
  public static final String WAKE = ":1:wake:";

  /** What follows a lock key in a watch key, before the process. */
  public static final String WATCH = ":1:watch:";

  private static final CharEscaper IN_TAG = new PercentEscaper(false);
  private static final CharEscaper BESIDE_TAG = new PercentEscaper(true);

  private static final int MAX_SHOWN = 10;
  private static final int MAX_SHOWN_CHARS = 100;

  private final List<String> names;
  private final String[] lockKeys;
  private final byte[][] lockKeyBytes;
  private final byte[][] fenceKeyBytes;
  private final int hash;

  private LockKeys(List<String> names, String[] lockKeys) {
    this.names = names;
    this.lockKeys = lockKeys;
    int n = names.size();
    lockKeyBytes = new byte[n][];
    fenceKeyBytes = new byte[n][];
    for (int i = 0; i < n; i++) {
      lockKeyBytes[i] = lockKeys[i].getBytes(UTF_8);
      fenceKeyBytes[i] = (lockKeys[i] + ":fence").getBytes(UTF_8);
    }
    hash = Arrays.hashCode(lockKeys);
  }

  /**
   * Encodes the names.
   *
   * @throws IllegalArgumentException if there is no name, there are more than {@value #MAX_NAMES}
   *     different names, or the prefix is empty or contains a brace; also if a name is empty, is
   *     longer than {@value #MAX_NAME_BYTES} bytes or contains an unpaired surrogate (Java would
   *     encode it as {@code ?}, and two names could collide)
   */
  public static LockKeys of(String prefix, List<String> names) {
    if (prefix.isEmpty() || prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
      throw new IllegalArgumentException(
          "key prefix must not be empty and must not contain braces, was '" + prefix + "'");
    }
    if (names.isEmpty()) {
      throw new IllegalArgumentException("a lock needs at least one name");
    }
    Set<String> distinct = new TreeSet<>(names);
    if (distinct.size() > MAX_NAMES) {
      throw new IllegalArgumentException(
          "a lock may have " + MAX_NAMES + " names, this one has " + distinct.size());
    }
    distinct.forEach(LockKeys::check);
    List<String> sorted = List.copyOf(distinct);
    String[] lockKeys = new String[sorted.size()];
    for (int i = 0; i < lockKeys.length; i++) {
      lockKeys[i] = prefix + ":" + tagged(sorted.get(i));
    }
    return new LockKeys(sorted, lockKeys);
  }

  /**
   * The same names in the same order, with keys whose hash tags end with these suffixes. A node
   * uses this to choose the slots of its keys.
   *
   * @param suffixes the suffix of each name, without braces
   * @throws IllegalArgumentException if there is not one suffix for each name, or one has a brace
   */
  public LockKeys withTagSuffixes(List<String> suffixes) {
    if (suffixes.size() != size()) {
      throw new IllegalArgumentException(
          size() + " names need as many suffixes, got " + suffixes.size());
    }
    String[] suffixed = new String[size()];
    for (int i = 0; i < suffixed.length; i++) {
      String suffix = suffixes.get(i);
      if (suffix.indexOf('{') >= 0 || suffix.indexOf('}') >= 0) {
        throw new IllegalArgumentException(
            "the suffix of a hash tag must not contain braces, was '" + suffix + "'");
      }
      int close = lockKeys[i].indexOf('}');
      suffixed[i] = lockKeys[i].substring(0, close) + suffix + lockKeys[i].substring(close);
    }
    return new LockKeys(names, suffixed);
  }

  private static void check(String name) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a lock name must not be empty");
    }
    int bytes;
    try {
      bytes = Utf8.encodedLength(name);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "a lock name must not contain an unpaired surrogate (name of %d chars)"
              .formatted(name.length()),
          e);
    }
    if (bytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "a lock name may have " + MAX_NAME_BYTES + " bytes of UTF-8, this one has " + bytes);
    }
  }

  private static String tagged(String name) {
    int open = name.indexOf('{');
    int close = name.indexOf('}');
    boolean ownTag =
        open >= 0
            && close > open + 1
            && name.indexOf('{', open + 1) < 0
            && name.indexOf('}', close + 1) < 0;
    if (!ownTag) {
      return "{" + encode(name, false) + "}";
    }
    return "{"
        + encode(name.substring(open + 1, close), false)
        + "}:"
        + encode(name.substring(0, open), true)
        + "{}"
        + encode(name.substring(close + 1), true);
  }

  private static String encode(String text, boolean colon) {
    return (colon ? BESIDE_TAG : IN_TAG).escape(text);
  }

  private static final class PercentEscaper extends CharEscaper {
    private final boolean colon;

    PercentEscaper(boolean colon) {
      this.colon = colon;
    }

    @Override
    protected char @Nullable [] escape(char c) {
      boolean plain = c >= 0x20 && c != 0x7f && c != '{' && c != '}' && c != '%';
      return plain && !(colon && c == ':') ? null : new char[] {'%', hex(c >> 4), hex(c)};
    }
  }

  private static char hex(int value) {
    return Character.toUpperCase(Character.forDigit(value & 0xf, 16));
  }

  /** The name of this lock key; empty if it is no lock key with this prefix. */
  public static Optional<String> nameOf(String prefix, String lockKey) {
    int close = lockKey.indexOf('}');
    if (!lockKey.startsWith(prefix + ":{") || close < 0) {
      return Optional.empty();
    }
    String tag = lockKey.substring(prefix.length() + 2, close);
    String rest = lockKey.substring(close + 1);
    if (rest.isEmpty()) {
      return Optional.of(PercentEncoding.decode(tag));
    }
    int own = rest.indexOf("{}");
    if (rest.charAt(0) != ':' || own < 0 || rest.indexOf(':', 1) >= 0) {
      return Optional.empty();
    }
    return Optional.of(
        PercentEncoding.decode(rest.substring(1, own))
            + "{"
            + PercentEncoding.decode(tag)
            + "}"
            + PercentEncoding.decode(rest.substring(own + 2)));
  }

  /** The names as the user wrote them, sorted. */
  public List<String> names() {
    return names;
  }

  /** The number of names. */
  public int size() {
    return names.size();
  }

  /** The lock key of the name at this index. */
  public String lockKey(int index) {
    return lockKeys[index];
  }

  /** The lock key in UTF-8; not a copy, must not be changed. */
  public byte[] lockKeyBytes(int index) {
    return lockKeyBytes[index];
  }

  /** The key that holds {@code fence:ended:wanted}; not a copy, must not be changed. */
  public byte[] fenceKeyBytes(int index) {
    return fenceKeyBytes[index];
  }

  /** The key of the queue of processes. A lock on several names has a separate queue. */
  public String queueKey() {
    return size() == 1 ? lockKeys[0] + QUEUE : lockKeys[0] + QUEUE + ":" + setId();
  }

  /** The name of a process in that queue, and behind {@code :1:wake:} and {@code :1:watch:}. */
  public String member(String process) {
    return size() == 1 ? process : process + "." + setId();
  }

  private String setId() {
    return Integer.toHexString(hash);
  }

  /** The key that a node writes when the turn of this member of the queue begins. */
  public String wakeKey(String member) {
    return lockKeys[0] + WAKE + member;
  }

  /** The lock key to which this key belongs: itself, or the one of a wake key or watch key. */
  public static String lockKeyOf(String key) {
    int suffix = key.lastIndexOf('}') + 1;
    int wake = key.indexOf(WAKE, suffix);
    int end = wake >= 0 ? wake : key.indexOf(WATCH, suffix);
    return end < 0 ? key : key.substring(0, end);
  }

  /** The key that a node changes when the turn of the process before this member begins. */
  public String watchKey(String member) {
    return lockKeys[0] + WATCH + member;
  }

  /**
   * Names for a message of bounded length: the first ten, separated by commas and cut to 100
   * characters each, and the number of the others.
   */
  public static String shown(List<String> names) {
    StringBuilder out = new StringBuilder();
    int shown = Math.min(MAX_SHOWN, names.size());
    for (int i = 0; i < shown; i++) {
      out.append(i == 0 ? "" : ", ");
      appendShown(out, names.get(i));
    }
    if (names.size() > shown) {
      out.append(" and ").append(names.size() - shown).append(" more");
    }
    return Printable.of(out.toString());
  }

  private static void appendShown(StringBuilder out, String name) {
    if (name.length() <= MAX_SHOWN_CHARS) {
      out.append(name);
      return;
    }
    boolean splits = Character.isHighSurrogate(name.charAt(MAX_SHOWN_CHARS - 1));
    out.append(name, 0, splits ? MAX_SHOWN_CHARS - 1 : MAX_SHOWN_CHARS).append('…');
  }

  @Override
  public boolean equals(Object other) {
    return this == other
        || (other instanceof LockKeys that && Arrays.equals(lockKeys, that.lockKeys));
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return "[" + shown(names) + "]";
  }
}
