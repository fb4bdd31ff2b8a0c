package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The Lua scripts of this version. The file of each says what it does and why.
 *
 * <p>A script is read when it is used for the first time, and the hashes are written here: to read
 * and to hash all of them would take a new JVM, which interprets, as long as to connect. {@code
 * ScriptTest} says what to write here when a file has changed.
 */
public enum Script {
  ACQUIRE(1, "b911778511a6a6ed61c9c9060072b5d04558659f"),
  EXTEND(2, "7d30ad80e5f503daa5347056450d912b693220eb"),
  RELEASE(4, "3057ae935b2b6c1dbcbeedc54e5353908d41acf1"),
  BREAK(8, "44057b619d25fece65afa2e988a55bce7642ae0d"),
  INSPECT(16, "5733c0ff729cc7bbfe4a40a42036b9cc0b42efd6"),
  /** Reads or writes the node's marker; always sent as text, never as a hash. */
  MARKER(32),
  ENQUEUE(64, "a0c6972aa3ae453621f572929662a3a1bb77dfcb"),
  /** Lists locks; always sent as text. */
  LIST(128),
  /** One step on the lock key of one name, while its slot of a cluster moves; sent as text. */
  LOCK_KEY(256),
  /** One step on the fence key of one name, while its slot of a cluster moves; sent as text. */
  FENCE_KEY(512),
  /** Changes the record in the node's marker; always sent as text. */
  RECORD(1024),
  /** Looks for locks in other databases; always sent as text. */
  DATABASES(2048);

  /** The scripts that a probe loads, where they are missing. */
  public static final List<Script> LOADED =
      List.of(ACQUIRE, EXTEND, RELEASE, BREAK, INSPECT, ENQUEUE);

  private static final String COMMENT = "--";
  private static final String INCLUDE = "-- include ";

  private final int bit;

  @SuppressWarnings("ImmutableEnumChecker") // never written
  private final byte[] sha;

  /** Read by two threads at once, it is the same text. */
  @SuppressWarnings("ImmutableEnumChecker")
  private volatile byte @Nullable [] text;

  Script(int bit) {
    this(bit, "");
  }

  Script(int bit, String sha) {
    this.bit = bit;
    this.sha = sha.getBytes(US_ASCII);
  }

  /** The source without comments, as it is sent; not a copy, must not be changed. */
  public byte[] text() {
    byte[] known = text;
    if (known == null) {
      StringBuilder out = new StringBuilder();
      appendCode(read(name().toLowerCase(Locale.ROOT) + ".lua"), out);
      known = out.substring(1).getBytes(UTF_8);
      text = known;
    }
    return known;
  }

  /**
   * The hash for EVALSHA, 40 hex digits; not a copy, must not be changed.
   *
   * @throws IllegalStateException if the script is always sent as text
   */
  public byte[] sha() {
    if (sha.length == 0) {
      throw new IllegalStateException(this + " is sent as text");
    }
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

  /** Puts the text of another file in place of each line that includes it. */
  private static void appendCode(String source, StringBuilder out) {
    for (String line : source.lines().toList()) {
      String code = line.strip();
      if (code.startsWith(INCLUDE)) {
        appendCode(read(code.substring(INCLUDE.length())), out);
      } else if (!code.isEmpty() && !code.startsWith(COMMENT)) {
        out.append('\n').append(code);
      }
    }
  }
}
