package dev.redlock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;

/**
 * The Redis keys of a set of names; sorted and without duplicates, so that equal sets are equal.
 *
 * <p>All keys of one name share one hash tag: {@code redlock:{name}} the lock, {@code
 * redlock:{name}:fence}, {@code redlock:{name}:line}. A name with one well-formed tag of its own,
 * {@code buy_{42}}, keeps it: {@code redlock:{42}:buy_{}}. Stray braces, {@code %} and control
 * characters are percent-encoded (in what stands beside a tag {@code :} as well), so that no name
 * chooses another's slot and no two keys collide.
 */
public final class LockKeys {
  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_NAME_BYTES = 512;

  private final List<String> names;
  private final String[] lockKeys;
  private final byte[][] lockKeyBytes;
  private final byte[][] fenceKeyBytes;
  private final byte[][] lineKeyBytes;
  private final int hash;

  private LockKeys(String prefix, List<String> names) {
    this.names = names;
    int n = names.size();
    lockKeys = new String[n];
    lockKeyBytes = new byte[n][];
    fenceKeyBytes = new byte[n][];
    lineKeyBytes = new byte[n][];
    for (int i = 0; i < n; i++) {
      String key = prefix + ":" + tagged(names.get(i));
      lockKeys[i] = key;
      lockKeyBytes[i] = key.getBytes(UTF_8);
      fenceKeyBytes[i] = (key + ":fence").getBytes(UTF_8);
      lineKeyBytes[i] = (key + ":line").getBytes(UTF_8);
    }
    hash = Arrays.hashCode(lockKeys);
  }

  /**
   * Encodes the names.
   *
   * @throws IllegalArgumentException if there is no name, a name is empty, longer than {@value
   *     #MAX_NAME_BYTES} bytes or holds an unpaired surrogate (which Java would turn into {@code
   *     ?}, letting two names collide), or the prefix is empty or holds a brace
   */
  public static LockKeys of(String prefix, List<String> names) {
    if (prefix.isEmpty() || prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
      throw new IllegalArgumentException(
          "key prefix must be non-empty and free of braces, was '" + prefix + "'");
    }
    if (names.isEmpty()) {
      throw new IllegalArgumentException("a lock needs at least one name");
    }
    names.forEach(LockKeys::check);
    return new LockKeys(prefix, List.copyOf(new TreeSet<>(names)));
  }

  private static void check(String name) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a lock name must not be empty");
    }
    int bytes;
    try {
      ByteBuffer encoded =
          UTF_8
              .newEncoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .encode(CharBuffer.wrap(name));
      bytes = encoded.remaining();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "a lock name must not hold an unpaired surrogate (name of " + name.length() + " chars)",
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
    StringBuilder out = null;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean escape =
          c < 0x20 || c == 0x7f || c == '{' || c == '}' || c == '%' || (colon && c == ':');
      if (escape && out == null) {
        out = new StringBuilder(text.length() + 8).append(text, 0, i);
      }
      if (out != null) {
        if (escape) {
          out.append('%').append(hex(c >> 4)).append(hex(c));
        } else {
          out.append(c);
        }
      }
    }
    return out == null ? text : out.toString();
  }

  private static char hex(int value) {
    return Character.toUpperCase(Character.forDigit(value & 0xf, 16));
  }

  /** The names, sorted, as the user wrote them. */
  public List<String> names() {
    return names;
  }

  /** How many names there are. */
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

  /** The key of the hash with {@code fence} and {@code ended}; not a copy, must not be changed. */
  public byte[] fenceKeyBytes(int index) {
    return fenceKeyBytes[index];
  }

  /** The key of the line of fair mode; not a copy, must not be changed. */
  public byte[] lineKeyBytes(int index) {
    return lineKeyBytes[index];
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
    return names.toString();
  }
}
