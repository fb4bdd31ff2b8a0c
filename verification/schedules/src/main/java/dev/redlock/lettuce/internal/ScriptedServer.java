package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.redis.internal.scripts.Script;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The replies of one Redis server to a connection of the library: handshake, probe, and the scripts
 * of a lock, which always grant. It records when it lost its keys, for the checker.
 */
final class ScriptedServer {
  private static final String SHORT_OF_MEMORY =
      "OOM command not allowed when used memory > 'maxmemory'.";

  /** One word of the errors that a server may reply with instead of executing a script. */
  static final List<String> ERRORS =
      List.of(
          SHORT_OF_MEMORY,
          "MISCONF Redis is configured to save RDB snapshots",
          "READONLY You can't write against a read only replica.",
          "NOPERM User app has no permissions to run the 'evalsha' command",
          "BUSY Redis is busy running a script.",
          "LOADING Redis is loading the dataset in memory",
          "ERR something else");

  /** An array whose elements the client would wait for. */
  private static final byte[] ENDLESS = "*100\r\n:1\r\n".getBytes(UTF_8);

  final String name;
  private final VirtualLoop loop;

  /** When the process started, and when it last lost keys that it had; on the loop's clock. */
  long bornNanos;

  long lostNanos;
  int runs = 1;

  /**
   * Whether it has had a key since that a client relies on: one of a lock, or a marker that it had
   * before a probe. A server without them loses nothing.
   */
  private boolean hasKeys;

  /** A proxy hides the last restart from the client, which has had no NOSCRIPT since. */
  private boolean restartHidden;

  private final Set<String> scripts = new HashSet<>();
  private long markerSince;
  private String markerId = "";
  private boolean renewed;

  boolean up = true;
  boolean loginRefused;
  boolean infoRefused;
  boolean markerRefused;
  boolean loading;
  boolean replica;
  boolean malformed;

  /** A replica was promoted to it, an hour ago. */
  boolean promoted;

  /** Called when a client sends the first of its scripts. */
  Runnable onLoad = () -> {};

  /** Called when a client asks how old the promotion is. */
  Runnable onProof = () -> {};

  /** The error that scripts of locks get; null if they are executed. */
  String error;

  ScriptedServer(String name, VirtualLoop loop, long ageNanos) {
    this.name = name;
    this.loop = loop;
    bornNanos = loop.nanos() - ageNanos;
    lostNanos = bornNanos;
  }

  private long micros() {
    return loop.wallMillis() * 1_000 + loop.nanos() / 1_000 % 1_000;
  }

  void restart(boolean empty) {
    runs++;
    bornNanos = loop.nanos();
    scripts.clear();
    if (empty) {
      loseKeys();
    }
  }

  void loseKeys() {
    lostNanos = hasKeys ? loop.nanos() : lostNanos;
    hasKeys = false;
    markerSince = 0;
    renewed = false;
  }

  void restartBehindProxy() {
    restart(true);
    restartHidden = true;
  }

  /** The client has a new connection, or got NOSCRIPT. */
  void restartShows() {
    restartHidden = false;
  }

  /**
   * Another client loads the scripts. This must not happen after a restart that a proxy still
   * hides: the client could not detect the restart any more, and such a server cannot be a node.
   */
  void loadScripts() {
    if (restartHidden) {
      return;
    }
    for (Script script : Script.LOADED) {
      scripts.add(new String(script.sha(), UTF_8));
    }
  }

  /** Another client, which has ended since, wrote the marker and has leases. */
  void wasUsed() {
    markerSince = micros() - 3_600_000_000L;
    markerId = "used";
    hasKeys = true;
  }

  void forgetScripts() {
    scripts.clear();
  }

  /** A lock script that the server executed, or did not. */
  record Executed(long token, String leaseId, String script, boolean done, boolean noScript) {}

  /** A reply, and the lock script to which it belongs if it does. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Answer(byte[] bytes, Executed executed, boolean probe) {
    /** Whether the client cannot assign further replies. */
    boolean unreadable() {
      return Arrays.equals(bytes, ENDLESS);
    }
  }

  Answer execute(List<String> words) {
    String command = words.get(0).toUpperCase(java.util.Locale.ROOT);
    return switch (command) {
      case "HELLO" -> plain(hello());
      case "CLIENT", "SELECT", "AUTH" -> plain(simple("OK"));
      case "PING" -> plain(loading ? failed(ERRORS.get(5)) : simple("PONG"));
      case "SCRIPT" ->
          plain(
              words.get(1).equals("LOAD")
                  ? load(words.get(2))
                  : exist(words.subList(2, words.size())));
      case "INFO" -> new Answer(info(), null, true);
      case "TIME" ->
          plain("*2\r\n" + bulk(micros() / 1_000_000 + "") + bulk(micros() % 1_000_000 + ""));
      case "EVAL", "EVALSHA" -> eval(words);
      default -> plain(failed("ERR unknown command '" + command + "'"));
    };
  }

  private static Answer plain(String text) {
    return new Answer(text.getBytes(UTF_8), null, false);
  }

  private static Answer plain(byte[] bytes) {
    return new Answer(bytes, null, false);
  }

  private static byte[] simple(String text) {
    return ("+" + text + "\r\n").getBytes(UTF_8);
  }

  private static byte[] failed(String text) {
    return ("-" + text + "\r\n").getBytes(UTF_8);
  }

  private static String bulk(String text) {
    return "$" + text.getBytes(UTF_8).length + "\r\n" + text + "\r\n";
  }

  private byte[] hello() {
    if (loginRefused) {
      return failed("WRONGPASS invalid username-password pair or user is disabled.");
    }
    return ("%7\r\n"
            + bulk("server")
            + bulk("redis")
            + bulk("version")
            + bulk("7.2.0")
            + bulk("proto")
            + ":3\r\n"
            + bulk("id")
            + ":7\r\n"
            + bulk("mode")
            + bulk("standalone")
            + bulk("role")
            + bulk("master")
            + bulk("modules")
            + "*0\r\n")
        .getBytes(UTF_8);
  }

  private byte[] load(String text) {
    if (loading) {
      return failed(ERRORS.get(5));
    }
    for (Script script : Script.values()) {
      if (new String(script.text(), UTF_8).equals(text)) {
        if (script == Script.LOADED.get(0)) {
          onLoad.run();
        }
        scripts.add(new String(script.sha(), UTF_8));
        return bulk(new String(script.sha(), UTF_8)).getBytes(UTF_8);
      }
    }
    return failed("ERR unknown script");
  }

  private byte[] exist(List<String> hashes) {
    if (loading) {
      return failed(ERRORS.get(5));
    }
    StringBuilder reply = new StringBuilder("*" + hashes.size() + "\r\n");
    hashes.forEach(hash -> reply.append(scripts.contains(hash) ? ":1\r\n" : ":0\r\n"));
    return reply.toString().getBytes(UTF_8);
  }

  private byte[] info() {
    if (infoRefused) {
      return failed("NOPERM this user has no permissions to run the 'info' command");
    }
    if (loading) {
      return failed(ERRORS.get(5));
    }
    return bulk("redis_version:7.2.0\r\nrun_id:"
            + name
            + "-"
            + runs
            + "\r\nuptime_in_seconds:"
            + (loop.nanos() - bornNanos) / 1_000_000_000
            + "\r\nrole:"
            + (replica ? "slave" : "master")
            + "\r\nmaster_replid:"
            + name
            + "\r\nmaster_replid2:"
            + (promoted ? "1" : "0").repeat(40)
            + "\r\nsecond_repl_offset:"
            + (promoted ? 77 : -1)
            + "\r\nconnected_slaves:0\r\nmaxmemory_policy:noeviction\r\n")
        .getBytes(UTF_8);
  }

  private Answer eval(List<String> words) {
    String script = words.get(1);
    int keys = Integer.parseInt(words.get(2));
    List<String> arguments = new ArrayList<>(words.subList(3 + keys, words.size()));
    if (script.equals(new String(Script.MARKER.text(), UTF_8))) {
      return new Answer(marker(arguments), null, true);
    }
    boolean text = words.get(0).equalsIgnoreCase("EVAL");
    Script known = null;
    for (Script s : Script.LOADED) {
      if (script.equals(new String(text ? s.text() : s.sha(), UTF_8))) {
        known = s;
      }
    }
    if (known == null) {
      return plain(failed("ERR unknown script"));
    }
    String leaseId = arguments.get(0);
    long token = Long.parseLong(arguments.get(1));
    if (loading) {
      return not(known, token, leaseId, ERRORS.get(5), false);
    }
    if (!text && !scripts.contains(script)) {
      restartShows();
      return not(known, token, leaseId, "NOSCRIPT No matching script. Please use EVAL.", true);
    }
    scripts.add(new String(known.sha(), UTF_8));
    if (replica) {
      return not(known, token, leaseId, ERRORS.get(2), false);
    }
    if (error != null) {
      return not(known, token, leaseId, error, false);
    }
    hasKeys = true;
    if (malformed) {
      malformed = false;
      Executed executed = new Executed(token, leaseId, known.name(), true, false);
      byte[] odd = "*2\r\n:1\r\n$3\r\nodd\r\n".getBytes(UTF_8);
      return new Answer(token % 2 == 0 ? odd : ENDLESS, executed, false);
    }
    int code = known == Script.ACQUIRE ? 1 : known == Script.EXTEND ? 5 : 8;
    boolean usual = known == Script.RELEASE && token % 2 == 0;
    String array = "*3\r\n:" + code + "\r\n:" + micros() + "\r\n:" + token + "\r\n";
    return new Answer(
        (usual ? ":8\r\n" : array).getBytes(UTF_8),
        new Executed(token, leaseId, known.name(), true, false),
        false);
  }

  private static Answer not(
      Script script, long token, String leaseId, String why, boolean noScript) {
    return new Answer(
        failed(why), new Executed(token, leaseId, script.name(), false, noScript), false);
  }

  private byte[] marker(List<String> arguments) {
    if (markerRefused) {
      return failed("NOPERM No permissions to access a key");
    }
    if (loading) {
      return failed(ERRORS.get(5));
    }
    if (!arguments.get(3).isEmpty()) {
      onProof.run();
    }
    if (replica && markerSince == 0) {
      return failed(ERRORS.get(2));
    }
    int set = 0;
    if (markerSince == 0) {
      set = 1;
      markerSince = micros();
      markerId = arguments.get(2);
    }
    hasKeys |= set == 0;
    long known = Long.parseLong(arguments.get(1));
    renewed |= known != 0 && known != markerSince;
    return ("*19\r\n:"
            + set
            + "\r\n:"
            + arguments.get(0)
            + "\r\n:"
            + markerSince
            + "\r\n:"
            + micros()
            + "\r\n:"
            + (renewed ? 1 : 0)
            + "\r\n:"
            + (arguments.get(3).isEmpty() || set == 1 ? 0 : 3_600_000_000L)
            + "\r\n"
            + bulk(markerId)
            + ":1\r\n"
            + bulk("")
            + bulk("0")
            + bulk("")
            + bulk("")
            + bulk("0").repeat(5)
            + bulk("")
            + bulk("0"))
        .getBytes(UTF_8);
  }
}
