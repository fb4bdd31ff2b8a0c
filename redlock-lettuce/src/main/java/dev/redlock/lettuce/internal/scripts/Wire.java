package dev.redlock.lettuce.internal.scripts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.redlock.spi.LockKeys;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A version of keys and scripts. A quorum is a sum of grants of single nodes, so the version is a
 * property of a node, which its marker says: a client speaks to each node the version of that node.
 * Scripts of two versions coexist on a server, which addresses them by their content.
 */
public final class Wire {
  /** The version of this library. */
  public static final Wire FIRST = new Wire(1);

  private final int version;
  private final String inKeys;

  // Of the first version nothing: it has the scripts as they are.
  private final Map<Script, byte[]> texts = new HashMap<>();
  private final Map<Script, byte[]> shas = new HashMap<>();

  private Wire(int version) {
    this.version = version;
    inKeys = ":" + version + ":";
  }

  /**
   * A version whose scripts are those of the first one after this edit. Only tests have another.
   */
  public Wire(int version, UnaryOperator<String> edit) {
    this(version);
    for (Script script : Script.values()) {
      byte[] text = edit.apply(new String(script.text(), UTF_8)).getBytes(UTF_8);
      texts.put(script, text);
      shas.put(script, Script.sha1(text).getBytes(US_ASCII));
    }
  }

  /** The number that the marker of a node says. */
  public int version() {
    return version;
  }

  /** The source of the script, as it is sent; not a copy, must not be changed. */
  public byte[] text(Script script) {
    return texts.isEmpty() ? script.text() : requireNonNull(texts.get(script));
  }

  /** The hash for EVALSHA, 40 hex digits; not a copy, must not be changed. */
  public byte[] sha(Script script) {
    return shas.isEmpty() ? script.sha() : requireNonNull(shas.get(script));
  }

  /**
   * The key of a queue, a wake key or a watch key as the node names it: with the version, so that
   * queues of two versions never mix. Lock keys and fence keys have no version, because votes
   * depend on them.
   *
   * @param key the key as {@link LockKeys} names it
   */
  public String named(String key) {
    int kind = kindOf(key);
    return key.substring(0, kind) + inKeys + key.substring(kind + 1);
  }

  /** The key as {@link LockKeys} names it; the same if it is no key of a queue of this version. */
  public String original(String key) {
    int kind = kindOf(key);
    return kind >= 0 && key.startsWith(inKeys, kind)
        ? key.substring(0, kind) + key.substring(kind + inKeys.length() - 1)
        : key;
  }

  /** A name has no colon behind its last brace. */
  private static int kindOf(String key) {
    return key.indexOf(':', key.lastIndexOf('}') + 1);
  }

  @Override
  public String toString() {
    return "wire version " + version;
  }
}
