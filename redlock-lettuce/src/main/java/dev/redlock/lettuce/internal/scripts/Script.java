package dev.redlock.lettuce.internal.scripts;

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

/** The Lua scripts of this version. The file of each says what it does and why. */
public enum Script {
  ACQUIRE(1),
  EXTEND(2),
  RELEASE(4),
  BREAK(8),
  INSPECT(16),
  /** Reads or writes the node's marker; always sent as text, never as a hash. */
  MARKER(32),
  ENQUEUE(64),
  /** Lists locks over a connection of its own; always sent as text. */
  LIST(128),
  /** One step on the lock key of one name, while its slot of a cluster moves; sent as text. */
  LOCK_KEY(256),
  /** One step on the fence key of one name, while its slot of a cluster moves; sent as text. */
  FENCE_KEY(512),
  /** Changes the record in the node's marker; always sent as text. */
  RECORD(1024),
  /** Looks for locks in other databases; always sent as text. */
  DATABASES(2048),
  /** Switches the node to another version of keys and scripts; always sent as text. */
  WIRE(4096);

  /** The scripts that a probe loads. */
  public static final List<Script> LOADED =
      List.of(ACQUIRE, EXTEND, RELEASE, BREAK, INSPECT, ENQUEUE);

  private static final String INCLUDE = "-- include ";

  @SuppressWarnings("ImmutableEnumChecker") // never written
  private final byte[] text;

  @SuppressWarnings("ImmutableEnumChecker")
  private final byte[] sha;

  private final int bit;

  Script(int bit) {
    this.bit = bit;
    text = withoutComments(read(name().toLowerCase(Locale.ROOT) + ".lua")).getBytes(UTF_8);
    sha = sha1(text).getBytes(US_ASCII);
  }

  /** The source without comments, as it is sent; not a copy, must not be changed. */
  public byte[] text() {
    return text;
  }

  /** The hash for EVALSHA, 40 hex digits; not a copy, must not be changed. */
  public byte[] sha() {
    return sha;
  }

  /** The bit of this script in a set of scripts. */
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
      throw new UncheckedIOException("script " + file + " cannot be read", e);
    }
  }

  /** Also puts the text of another file in place of each line that includes it. */
  private static String withoutComments(String source) {
    return source
        .lines()
        .map(String::strip)
        .map(line -> line.startsWith(INCLUDE) ? included(line) : line)
        .filter(line -> !line.isEmpty() && !line.startsWith("--"))
        .collect(Collectors.joining("\n"));
  }

  private static String included(String line) {
    return withoutComments(read(line.substring(INCLUDE.length())));
  }

  static String sha1(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
