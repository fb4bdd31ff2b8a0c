package dev.redlock.internal.scripts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import java.time.Duration;
import java.util.Arrays;

/**
 * A request as the bytes of one {@code EVALSHA} command. Made once and written to every node as it
 * is; nothing is encoded per node.
 */
public final class WireRequest {
  private static final byte[] EVALSHA = "EVALSHA".getBytes(US_ASCII);
  private static final byte[] EVAL = "EVAL".getBytes(US_ASCII);
  private static final byte[] NONE = {};
  private static final byte[] YES = {'1'};
  private static final byte[] NO = {'0'};

  private final Script script;
  private final LockKeys keys;
  private final byte[][] arguments;
  private final byte[] evalSha;

  private WireRequest(Script script, LockKeys keys, byte[][] arguments) {
    this.script = script;
    this.keys = keys;
    this.arguments = arguments;
    this.evalSha = frame(EVALSHA, script.sha(), arguments);
  }

  /**
   * How long a fence key lives after the last lease: longer than any lease and any token window, so
   * that order never depends on it, and idle names still leave nothing behind.
   */
  public static long fenceLifeMillis(Duration maxLeaseTime) {
    return 2 * maxLeaseTime.toMillis() + 60_000;
  }

  /** What ends the key of a name under which its release is told, if it is. */
  public static final String FREED = ":freed";

  /** Encodes the request. */
  public static WireRequest of(LockRequest request, long fenceLifeMillis) {
    return of(request, fenceLifeMillis, "");
  }

  /**
   * Encodes the request.
   *
   * @param notice how a release tells of itself under the lock key and {@link #FREED}: {@code
   *     SPUBLISH} or {@code PUBLISH} to that channel, {@code XADD} to that stream, or empty
   */
  public static WireRequest of(LockRequest request, long fenceLifeMillis, String notice) {
    byte[] life = ascii(fenceLifeMillis);
    LockKeys keys = request.keys();
    if (request instanceof LockRequest.Acquire acquire) {
      return new WireRequest(Script.ACQUIRE, keys, acquire(acquire, life));
    } else if (request instanceof LockRequest.Extend extend) {
      Builder out = new Builder(keys, 4, false);
      out.add(utf8(extend.leaseId())).add(ascii(extend.token()));
      out.add(ascii(extend.ttlMillis())).add(life);
      return new WireRequest(Script.EXTEND, keys, out.items);
    } else if (request instanceof LockRequest.Release release) {
      return new WireRequest(Script.RELEASE, keys, release(release, life, notice));
    } else if (request instanceof LockRequest.Break broken) {
      Builder out = new Builder(keys, 2, false).add(ascii(broken.token())).add(life);
      return new WireRequest(Script.BREAK, keys, out.items);
    }
    return new WireRequest(Script.INSPECT, keys, new Builder(keys, 0, false).items);
  }

  private static byte[][] acquire(LockRequest.Acquire acquire, byte[] life) {
    String previous = acquire.previousLeaseId();
    LockRequest.Line line = acquire.line();
    int count = line != null ? 10 : previous != null ? 6 : 4;
    Builder out = new Builder(acquire.keys(), count, line != null);
    out.add(utf8(acquire.leaseId())).add(ascii(acquire.token()));
    out.add(ascii(acquire.ttlMillis())).add(life);
    if (count > 4) {
      out.add(previous == null ? NONE : utf8(previous)).add(ascii(acquire.previousToken()));
    }
    if (line != null) {
      out.add(utf8(line.process())).add(ascii(line.arrivalMicros()));
      out.add(ascii(line.timeoutMillis())).add(line.stand() ? YES : NO);
    }
    return out.items;
  }

  private static byte[][] release(LockRequest.Release release, byte[] life, String notice) {
    String leaving = release.leaveLine();
    int count = !notice.isEmpty() ? 7 : leaving != null ? 6 : 5;
    Builder out = new Builder(release.keys(), count, leaving != null);
    out.add(utf8(release.leaseId())).add(ascii(release.token())).add(life);
    out.add(release.ended() ? YES : NO).add(ascii(release.keepMillis()));
    if (count > 5) {
      out.add(leaving == null ? NONE : utf8(leaving));
    }
    if (count > 6) {
      out.add(utf8(notice));
    }
    return out.items;
  }

  /** Which script runs. */
  public Script script() {
    return script;
  }

  /** The keys of the names asked about. */
  public LockKeys keys() {
    return keys;
  }

  /** The whole command with the script's hash; not a copy, must not be changed. */
  public byte[] evalSha() {
    return evalSha;
  }

  /** The whole command with the script's text, for a node that has not got it. */
  public byte[] eval() {
    return frame(EVAL, script.text(), arguments);
  }

  /** The key at this index of KEYS, counted from 1 as Lua does, for people. */
  public String keyName(int index) {
    int i = (index - 1) / 2;
    if (i >= keys.size()) {
      return keys.lockKey(0) + ":line";
    }
    return index % 2 == 1 ? keys.lockKey(i) : keys.lockKey(i) + ":fence";
  }

  /** A command of these words as Redis reads it. */
  public static byte[] frame(byte[] command, byte[] first, byte[]... rest) {
    int size = 16 + sizeOf(command) + sizeOf(first);
    for (byte[] word : rest) {
      size += sizeOf(word);
    }
    Frame out = new Frame(size);
    out.length('*', 2 + rest.length);
    out.word(command);
    out.word(first);
    for (byte[] word : rest) {
      out.word(word);
    }
    return Arrays.copyOf(out.bytes, out.at);
  }

  private static int sizeOf(byte[] word) {
    return word.length + 16;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  private static byte[] ascii(long number) {
    return Long.toString(number).getBytes(US_ASCII);
  }

  /** The words after the script: number of keys, keys, arguments. */
  private static final class Builder {
    private final byte[][] items;
    private int at;

    Builder(LockKeys keys, int arguments, boolean line) {
      int n = keys.size();
      int keyCount = 2 * n + (line ? 1 : 0);
      items = new byte[1 + keyCount + arguments][];
      add(ascii(keyCount));
      for (int i = 0; i < n; i++) {
        add(keys.lockKeyBytes(i)).add(keys.fenceKeyBytes(i));
      }
      if (line) {
        add(keys.lineKeyBytes(0));
      }
    }

    Builder add(byte[] item) {
      items[at++] = item;
      return this;
    }
  }

  private static final class Frame {
    private final byte[] bytes;
    private int at;

    Frame(int size) {
      bytes = new byte[size];
    }

    void length(char kind, int value) {
      bytes[at++] = (byte) kind;
      byte[] digits = ascii(value);
      copy(digits);
      bytes[at++] = '\r';
      bytes[at++] = '\n';
    }

    void word(byte[] word) {
      length('$', word.length);
      copy(word);
      bytes[at++] = '\r';
      bytes[at++] = '\n';
    }

    private void copy(byte[] from) {
      System.arraycopy(from, 0, bytes, at, from.length);
      at += from.length;
    }
  }
}
