package dev.redlock.internal.scripts;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import java.time.Duration;

/**
 * A request as the bytes of one {@code EVALSHA} command. Made once and written to every node as it
 * is; nothing is encoded per node.
 */
public final class WireRequest {
  private static final byte[] EVALSHA = "EVALSHA".getBytes(US_ASCII);
  private static final byte[] EVAL = "EVAL".getBytes(US_ASCII);

  private final Script script;
  private final LockRequest request;
  private final long fenceLifeMillis;
  private final String notice;
  private final byte[] evalSha;

  private WireRequest(LockRequest request, long fenceLifeMillis, String notice) {
    this.script = scriptOf(request);
    this.request = request;
    this.fenceLifeMillis = fenceLifeMillis;
    this.notice = notice;
    this.evalSha = frame(EVALSHA, script.sha());
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
    return new WireRequest(request, fenceLifeMillis, notice);
  }

  private static Script scriptOf(LockRequest request) {
    if (request instanceof LockRequest.Acquire) {
      return Script.ACQUIRE;
    } else if (request instanceof LockRequest.Extend) {
      return Script.EXTEND;
    } else if (request instanceof LockRequest.Release) {
      return Script.RELEASE;
    } else if (request instanceof LockRequest.Break) {
      return Script.BREAK;
    }
    return Script.INSPECT;
  }

  /** A command of these words as Redis reads it. */
  private byte[] frame(byte[] command, byte[] text) {
    Frame frame = new Frame();
    write(frame.word(command).word(text));
    frame.begin();
    write(frame.word(command).word(text));
    return frame.end();
  }

  /** The words after the script: number of keys, keys, arguments. */
  private void write(Frame out) {
    if (request instanceof LockRequest.Acquire acquire) {
      acquire(out, acquire);
    } else if (request instanceof LockRequest.Extend extend) {
      keys(out, false).word(extend.leaseId()).word(extend.token());
      out.word(extend.ttlMillis()).word(fenceLifeMillis);
    } else if (request instanceof LockRequest.Release release) {
      release(out, release);
    } else if (request instanceof LockRequest.Break broken) {
      keys(out, false).word(broken.token()).word(fenceLifeMillis);
    } else {
      keys(out, false);
    }
  }

  private Frame keys(Frame out, boolean line) {
    LockKeys keys = request.keys();
    int n = keys.size();
    out.word(2L * n + (line ? 1 : 0));
    for (int i = 0; i < n; i++) {
      out.word(keys.lockKeyBytes(i)).word(keys.fenceKeyBytes(i));
    }
    if (line) {
      out.word(keys.lineKeyBytes(0));
    }
    return out;
  }

  private void acquire(Frame out, LockRequest.Acquire acquire) {
    String previous = acquire.previousLeaseId();
    LockRequest.Line line = acquire.line();
    keys(out, line != null).word(acquire.leaseId()).word(acquire.token());
    out.word(acquire.ttlMillis()).word(fenceLifeMillis);
    if (previous != null || line != null) {
      out.word(previous == null ? "" : previous).word(acquire.previousToken());
    }
    if (line != null) {
      out.word(line.process()).word(line.arrivalMicros());
      out.word(line.timeoutMillis()).word(line.stand() ? 1 : 0);
    }
  }

  private void release(Frame out, LockRequest.Release release) {
    String leaving = release.leaveLine();
    keys(out, leaving != null).word(release.leaseId()).word(release.token());
    out.word(fenceLifeMillis).word(release.ended() ? 1 : 0).word(release.keepMillis());
    if (leaving != null || !notice.isEmpty()) {
      out.word(leaving == null ? "" : leaving);
    }
    if (!notice.isEmpty()) {
      out.word(notice);
    }
  }

  /** Which script runs. */
  public Script script() {
    return script;
  }

  /** The keys of the names asked about. */
  public LockKeys keys() {
    return request.keys();
  }

  /** The whole command with the script's hash; not a copy, must not be changed. */
  public byte[] evalSha() {
    return evalSha;
  }

  /** The whole command with the script's text, for a node that has not got it. */
  public byte[] eval() {
    return frame(EVAL, script.text());
  }

  /** The key at this index of KEYS, counted from 1 as Lua does, for people. */
  public String keyName(int index) {
    LockKeys keys = request.keys();
    int i = (index - 1) / 2;
    if (i >= keys.size()) {
      return keys.lockKey(0) + ":line";
    }
    return index % 2 == 1 ? keys.lockKey(i) : keys.lockKey(i) + ":fence";
  }
}
