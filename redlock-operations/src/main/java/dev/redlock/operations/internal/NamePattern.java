package dev.redlock.operations.internal;

/** A pattern of names: {@code *} for any text, {@code ?} for one character, a backslash quotes. */
record NamePattern(String pattern) {

  /** Whether the whole name matches. Takes time in proportion to the product of the lengths. */
  boolean matches(String name) {
    int p = 0;
    int n = 0;
    int star = -1;
    int resume = 0;
    while (n < name.length()) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        resume = n;
      } else if (p < pattern.length() && matchesChar(p, name.charAt(n))) {
        n += pattern.charAt(p) == '?' ? Character.charCount(name.codePointAt(n)) : 1;
        p += isQuote(p) ? 2 : 1;
      } else if (star >= 0) { // The star takes one character more.
        p = star + 1;
        n = ++resume;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }

  private boolean isQuote(int p) {
    return pattern.charAt(p) == '\\' && p + 1 < pattern.length();
  }

  private boolean matchesChar(int p, char c) {
    return isQuote(p)
        ? pattern.charAt(p + 1) == c
        : pattern.charAt(p) == '?' || pattern.charAt(p) == c;
  }
}
