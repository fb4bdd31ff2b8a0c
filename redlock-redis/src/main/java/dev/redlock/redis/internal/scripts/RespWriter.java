package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/**
 * Writes words in RESP, the protocol of Redis. The caller writes all words twice: the first pass
 * counts, the second fills an array of the exact length. Nothing else is allocated.
 */
final class RespWriter {
  /** Null in the counting pass. */
  private byte @Nullable [] bytes;

  private int at;
  private int words;

  /** Ends the counting pass. */
  void begin() {
    int count = words;
    bytes = new byte[at + 3 + digits(count)];
    at = 0;
    words = 0;
    length('*', count);
  }

  /** The words written since {@link #begin}; they must have the counted length. */
  byte[] end() {
    byte[] out = bytes;
    if (out == null || at != out.length) {
      throw new IllegalStateException("wrote " + at + " bytes, which is not the counted length");
    }
    return out;
  }

  RespWriter word(byte[] word) {
    words++;
    length('$', word.length);
    byte[] out = bytes;
    if (out != null) {
      System.arraycopy(word, 0, out, at, word.length);
    }
    at += word.length;
    crlf();
    return this;
  }

  RespWriter word(String word) {
    int length = word.length();
    for (int i = 0; i < length; i++) {
      if (word.charAt(i) > 0x7f) {
        return word(word.getBytes(UTF_8));
      }
    }
    words++;
    length('$', length);
    byte[] out = bytes;
    if (out != null) {
      for (int i = 0; i < length; i++) {
        out[at + i] = (byte) word.charAt(i);
      }
    }
    at += length;
    crlf();
    return this;
  }

  RespWriter word(long number) {
    words++;
    int length = digits(number);
    length('$', length);
    number(number, length);
    crlf();
    return this;
  }

  private void length(char kind, int value) {
    byte[] out = bytes;
    if (out != null) {
      out[at] = (byte) kind;
    }
    at++;
    number(value, digits(value));
    crlf();
  }

  private void number(long value, int digits) {
    byte[] out = bytes;
    if (out != null) {
      long left = Math.abs(value);
      for (int i = at + digits - 1; i >= at; i--) {
        out[i] = (byte) ('0' + left % 10);
        left /= 10;
      }
      if (value < 0) {
        out[at] = '-';
      }
    }
    at += digits;
  }

  private void crlf() {
    byte[] out = bytes;
    if (out != null) {
      out[at] = '\r';
      out[at + 1] = '\n';
    }
    at += 2;
  }

  /** The number of characters of the number; not for {@code Long.MIN_VALUE}. */
  static int digits(long number) {
    int digits = number < 0 ? 2 : 1;
    for (long left = Math.abs(number); left >= 10; left /= 10) {
      digits++;
    }
    return digits;
  }
}
