package dev.redlock.internal.text;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Utf8;
import org.jspecify.annotations.Nullable;

/**
 * A node's description of the holder of a lock: a short hash of its lease id, and the label of its
 * client if it has one. In the lock key the label follows the secret id, {@code <id>~<label>}; a
 * node replies {@code <hash>~<label>}. So the label needs no additional command, and lives as long
 * as the lease. It is a hint for people: any client may choose any label.
 *
 * @param hash eight hexadecimal digits
 * @param label the label; null if the client has none
 */
public record HolderMark(String hash, @Nullable String label) {
  /** The longest label, in bytes of UTF-8. */
  public static final int MAX_LABEL_BYTES = 64;

  private static final char SEPARATOR = '~';

  /** The separator and a label of which each byte is escaped. */
  private static final int MAX_SUFFIX_CHARS = 1 + 3 * MAX_LABEL_BYTES;

  private static final int MAX_HASH_CHARS = 40;

  /** Reads the mark of a reply. */
  public static HolderMark of(String mark) {
    int end = mark.indexOf(SEPARATOR);
    return end < 0
        ? new HolderMark(mark, null)
        : new HolderMark(mark.substring(0, end), decode(mark.substring(end + 1)));
  }

  /**
   * The text that follows the lease ids of a client with this label; empty for an empty label.
   *
   * @throws IllegalArgumentException if the label is longer than {@value #MAX_LABEL_BYTES} bytes,
   *     or contains a control character, a mark of writing direction or an unpaired surrogate
   */
  public static String suffix(String label) {
    if (label.isEmpty()) {
      return "";
    }
    if (!Printable.of(label).equals(label)) {
      String shown = label.substring(0, Math.min(label.length(), MAX_LABEL_BYTES));
      throw new IllegalArgumentException(
          "label '" + Printable.of(shown) + "' must contain printable characters only");
    }
    int length;
    try {
      length = Utf8.encodedLength(label);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("a label must not contain an unpaired surrogate", e);
    }
    if (length > MAX_LABEL_BYTES) {
      throw new IllegalArgumentException(
          "a label may have " + MAX_LABEL_BYTES + " bytes of UTF-8, this one has " + length);
    }
    StringBuilder out = new StringBuilder().append(SEPARATOR);
    for (byte b : label.getBytes(UTF_8)) {
      if (isPlain((char) (b & 0xff)) && b != '%') {
        out.append((char) b);
      } else {
        out.append('%').append(Character.forDigit(b >> 4 & 0xf, 16));
        out.append(Character.forDigit(b & 0xf, 16));
      }
    }
    return out.toString();
  }

  /** The part of a lock key's value that replies repeat; see {@code acquire.lua}. */
  public static String suffixOf(String value) {
    int from = value.length();
    while (from > 0 && isPlain(value.charAt(from - 1))) {
      from--;
    }
    if (from == 0 || value.charAt(from - 1) != SEPARATOR) {
      return "";
    }
    return value.substring(from - 1, Math.min(value.length(), from - 1 + MAX_SUFFIX_CHARS));
  }

  /** Whether a reply may contain this mark. */
  public static boolean isMark(String mark) {
    int separator = mark.indexOf(SEPARATOR);
    int end = separator < 0 ? mark.length() : separator;
    if (end == 0 || end > MAX_HASH_CHARS || mark.length() - end > MAX_SUFFIX_CHARS) {
      return false;
    }
    for (int i = 0; i < mark.length(); i++) {
      char c = mark.charAt(i);
      if (i < end ? Character.digit(c, 16) < 0 || c > 'f' : i > end && !isPlain(c)) {
        return false;
      }
    }
    return true;
  }

  /** Printable ASCII without the space and the separator. */
  private static boolean isPlain(char c) {
    return c > ' ' && c < SEPARATOR;
  }

  /** Another program may have written any text: this method makes it printable. */
  private static @Nullable String decode(String escaped) {
    String text = new String(PercentEncoding.decode(escaped).getBytes(ISO_8859_1), UTF_8);
    return text.isEmpty() ? null : Printable.of(text);
  }
}
