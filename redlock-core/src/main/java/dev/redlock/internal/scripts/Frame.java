package dev.redlock.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/**
 * Words as Redis reads them. Written twice: the first time only counted, so that the bytes are made
 * once, in their final length, and nothing is made for a word on its way.
 */
final class Frame {
  /** Null while it only counts. */
  private byte @Nullable [] bytes;

  private int at;
  private int words;

  /** Everything written from now on goes to bytes, of the size that was counted. */
  void begin() {
    int count = words;
    bytes = new byte[at + 3 + digits(count)];
    at = 0;
    words = 0;
    length('*', count);
  }

  /** What was written since {@link #begin}; it must be what was counted. */
  byte[] end() {
    byte[] out = bytes;
    if (out == null || at != out.length) {
      throw new IllegalStateException("written " + at + " bytes, not what was counted");
    }
    return out;
  }

  Frame word(byte[] word) {
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

  Frame word(String word) {
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

  Frame word(long number) {
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

  /** How many characters the number takes; not for the least of all longs. */
  static int digits(long number) {
    int digits = number < 0 ? 2 : 1;
    for (long left = Math.abs(number); left >= 10; left /= 10) {
      digits++;
    }
    return digits;
  }
}
