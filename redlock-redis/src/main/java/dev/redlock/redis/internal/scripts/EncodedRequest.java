package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A request as the bytes of one {@code EVALSHA} command. A round sends one {@link LockRequest}
 * object to all its nodes; {@link #of} encodes it for the first of them and finds it again for the
 * others, so that nothing is allocated per node.
 */
public final class EncodedRequest {
  private static final byte[] EVALSHA = "EVALSHA".getBytes(US_ASCII);
  private static final byte[] EVAL = "EVAL".getBytes(US_ASCII);

  /** The suffix of the key or channel that carries the release hints of a name. */
  public static final String FREED = ":freed";

  /** A power of two, about the number of threads that send a round at the same moment. */
  private static final int RECENT = 32;

  /**
   * Recently encoded requests, at the identity hash of the request. Any thread reads and writes it;
   * a request that another one displaced is encoded again.
   */
  private static final AtomicReferenceArray<@Nullable EncodedRequest> recent =
      new AtomicReferenceArray<>(RECENT);

  private final Script script;
  private final LockRequest request;
  private final long fenceLifeMillis;
  private final String hintCommand;

  /** Empty for a step, which is always sent as text. */
  private final byte[] evalSha;

  /** A step on one key: the index of its name, and the arguments; otherwise null. */
  private final @Nullable Step step;

  private record Step(int name, List<String> arguments) {}

  private EncodedRequest(LockRequest request, long fenceLifeMillis, String hintCommand) {
    this.script = scriptOf(request);
    this.request = request;
    this.fenceLifeMillis = fenceLifeMillis;
    this.hintCommand = hintCommand;
    this.step = null;
    this.evalSha = encode(EVALSHA, script.sha());
  }

  private EncodedRequest(Script script, LockRequest request, Step step) {
    this.script = script;
    this.request = request;
    this.fenceLifeMillis = 0;
    this.hintCommand = "";
    this.step = step;
    this.evalSha = new byte[0];
  }

  /**
   * Encodes one step of the request, on one key of one of its names; see {@code lock_key.lua}.
   *
   * @param script {@link Script#LOCK_KEY} or {@link Script#FENCE_KEY}, which selects the key
   * @param name the index of the name
   * @param arguments the arguments of the script
   */
  public static EncodedRequest step(
      Script script, LockRequest request, int name, String... arguments) {
    if (script != Script.LOCK_KEY && script != Script.FENCE_KEY) {
      throw new IllegalArgumentException("script " + script + " is no step on one key");
    }
    return new EncodedRequest(script, request, new Step(name, List.of(arguments)));
  }

  /**
   * How long a fence key lives after the last lease: longer than any lease plus the token window.
   * The order of tokens therefore does not depend on it, and an unused name leaves no key behind.
   */
  public static long fenceLifeMillis(long maxLeaseMillis) {
    return 2 * maxLeaseMillis + 60_000;
  }

  /** Encodes the request; a release publishes no hint. */
  public static EncodedRequest of(LockRequest request, long fenceLifeMillis) {
    return of(request, fenceLifeMillis, "");
  }

  /**
   * Encodes the request. Repeated calls with the same object usually return the same result.
   *
   * @param hintCommand how a release publishes a hint under the lock key and {@link #FREED}: {@code
   *     SPUBLISH} or {@code PUBLISH} to that channel, {@code XADD} to that stream; empty for none
   */
  public static EncodedRequest of(LockRequest request, long fenceLifeMillis, String hintCommand) {
    int slot = System.identityHashCode(request) & RECENT - 1;
    EncodedRequest known = recent.getAcquire(slot);
    if (known != null
        && known.request == request
        && known.fenceLifeMillis == fenceLifeMillis
        && known.hintCommand.equals(hintCommand)) {
      return known;
    }
    EncodedRequest encoded = new EncodedRequest(request, fenceLifeMillis, hintCommand);
    recent.setRelease(slot, encoded);
    return encoded;
  }

  private static Script scriptOf(LockRequest request) {
    return switch (request.operation()) {
      case ACQUIRE -> Script.ACQUIRE;
      case ENQUEUE -> Script.ENQUEUE;
      case EXTEND -> Script.EXTEND;
      case RELEASE -> Script.RELEASE;
      case INSPECT -> Script.INSPECT;
      case BREAK -> Script.BREAK;
    };
  }

  /** The whole command in RESP. */
  private byte[] encode(byte[] command, byte[] scriptOrSha) {
    RespWriter out = new RespWriter();
    write(out.word(command).word(scriptOrSha));
    out.begin();
    write(out.word(command).word(scriptOrSha));
    return out.end();
  }

  /** The words after the script: number of keys, keys, arguments. */
  private void write(RespWriter out) {
    if (step != null) {
      out.word(1).word(stepKey(step.name()));
      step.arguments().forEach(out::word);
      return;
    }
    switch (request.operation()) {
      case ACQUIRE -> acquire(out, (LockRequest.Acquire) request);
      case ENQUEUE -> enqueue(out, (LockRequest.Enqueue) request);
      case EXTEND -> extend(out, (LockRequest.Extend) request);
      case RELEASE -> release(out, (LockRequest.Release) request);
      case INSPECT -> keys(out);
      case BREAK -> keys(out).word(((LockRequest.Break) request).token()).word(fenceLifeMillis);
    }
  }

  private byte[] stepKey(int name) {
    return script == Script.LOCK_KEY
        ? request.keys().lockKeyBytes(name)
        : request.keys().fenceKeyBytes(name);
  }

  private RespWriter keys(RespWriter out) {
    out.word(2L * request.keys().size());
    return pairs(out);
  }

  private RespWriter pairs(RespWriter out) {
    LockKeys keys = request.keys();
    for (int i = 0; i < keys.size(); i++) {
      out.word(keys.lockKeyBytes(i)).word(keys.fenceKeyBytes(i));
    }
    return out;
  }

  private void acquire(RespWriter out, LockRequest.Acquire acquire) {
    LockRequest.QueueEntry entry = acquire.queueEntry();
    boolean ownQueue = request.keys().size() > 1;
    keys(out).word(acquire.leaseId()).word(acquire.token());
    out.word(acquire.ttlMillis()).word(fenceLifeMillis);
    if (entry != null || ownQueue) {
      out.word(queueKey());
    }
    if (entry != null) {
      entry(out, entry);
      if (entry.atTurn()) {
        out.word(1);
      }
    }
  }

  private static void entry(RespWriter out, LockRequest.QueueEntry entry) {
    out.word(entry.process()).word(entry.arrivalMicros()).word(entry.patienceMicros());
  }

  private void enqueue(RespWriter out, LockRequest.Enqueue enqueue) {
    LockKeys keys = request.keys();
    boolean several = keys.size() > 1;
    out.word(several ? 2L + keys.size() : 2L);
    out.word(keys.wakeKey(enqueue.entry().process()));
    out.word(keys.watchKey(enqueue.entry().process()));
    for (int i = 0; several && i < keys.size(); i++) {
      out.word(keys.lockKeyBytes(i));
    }
    entry(out, enqueue.entry());
    out.word(enqueue.afterToken()).word(fenceLifeMillis).word(queueKey());
    pairs(out.word(enqueue.entry().lifeMillis()));
  }

  private void extend(RespWriter out, LockRequest.Extend extend) {
    keys(out).word(extend.leaseId()).word(extend.token());
    out.word(extend.ttlMillis()).word(fenceLifeMillis);
  }

  private void release(RespWriter out, LockRequest.Release release) {
    String leaving = release.leaveQueue();
    boolean ownQueue = request.keys().size() > 1;
    keys(out).word(release.leaseId()).word(release.token()).word(fenceLifeMillis);
    out.word(release.ended() ? 1 : 0).word(release.keepMillis());
    if (leaving != null || !hintCommand.isEmpty() || ownQueue) {
      out.word(leaving == null ? "" : leaving);
    }
    if (!hintCommand.isEmpty() || ownQueue) {
      out.word(hintCommand);
    }
    if (ownQueue) {
      out.word(queueKey());
    }
  }

  private String queueKey() {
    return request.keys().queueKey();
  }

  /** The script that the command runs. */
  public Script script() {
    return script;
  }

  /** Whether the server is to remember for its invalidations that this client has read the keys. */
  public boolean isTracked() {
    return !(request instanceof LockRequest.Break)
        && !(request instanceof LockRequest.Inspect inspect && !inspect.listens());
  }

  /** What it asks for. */
  LockRequest request() {
    return request;
  }

  /** The keys of the requested names. */
  public LockKeys keys() {
    return request.keys();
  }

  /** The whole command with the script's hash; not a copy, must not be changed. */
  public byte[] evalSha() {
    return evalSha;
  }

  /** The whole command with the script's text, for a node that has not loaded the script. */
  public byte[] eval() {
    return encode(EVAL, script.text());
  }

  /** The greatest index with which a script can report a key. */
  int keyCount() {
    return step != null ? 1 : 2 * request.keys().size() + 1;
  }

  /** The key that a script reports by this index: the pairs of keys, from 1, then the queue. */
  String keyName(int index) {
    if (step != null) {
      return new String(stepKey(step.name()), UTF_8);
    }
    LockKeys keys = request.keys();
    int i = (index - 1) / 2;
    if (i >= keys.size()) {
      return queueKey();
    }
    return index % 2 == 1 ? keys.lockKey(i) : keys.lockKey(i) + ":fence";
  }
}
