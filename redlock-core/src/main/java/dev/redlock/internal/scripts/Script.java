package dev.redlock.internal.scripts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The Lua scripts; each has a file of its own that says what it does and why. */
public enum Script {
  ACQUIRE(1),
  EXTEND(2),
  RELEASE(4),
  BREAK(8),
  INSPECT(16),
  /** Reads and sets the node's marker; sent whole once per connection, never by its hash. */
  MARKER(32);

  /** What a node loads when it is probed. */
  public static final List<Script> LOADED = List.of(ACQUIRE, EXTEND, RELEASE, BREAK, INSPECT);

  @SuppressWarnings("ImmutableEnumChecker") // nobody writes to them
  private final byte[] text;

  @SuppressWarnings("ImmutableEnumChecker")
  private final byte[] sha;

  private final int bit;

  Script(int bit) {
    this.bit = bit;
    text = withoutComments(read(name().toLowerCase(Locale.ROOT) + ".lua")).getBytes(UTF_8);
    sha = sha1(text).getBytes(US_ASCII);
  }

  /** The source that is sent, without its comments; not a copy, must not be changed. */
  public byte[] text() {
    return text;
  }

  /** What EVALSHA calls it, 40 hex digits; not a copy, must not be changed. */
  public byte[] sha() {
    return sha;
  }

  /** This script in a set of scripts. */
  public int bit() {
    return bit;
  }

  private static String read(String file) {
    try (InputStream in = Script.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("script " + file + " is missing from the jar");
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("script " + file, e);
    }
  }

  private static String withoutComments(String source) {
    return source
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.startsWith("--"))
        .collect(Collectors.joining("\n"));
  }

  private static String sha1(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
