package dev.redlock.schedules;

import static dev.redlock.schedules.ScheduleMutants.redis;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.Mutant.Edit;
import java.util.ArrayList;
import java.util.List;

/** Faults in the connection layer; a seed must catch each of them. */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class ConnectionMutants {
  private static final String LAYER = "redlock-lettuce/src/main/java/dev/redlock/lettuce/internal/";

  private static final List<Mutant> ALL = new ArrayList<>();

  private ConnectionMutants() {}

  static List<Mutant> all() {
    return List.copyOf(ALL);
  }

  private static void mutant(String name, Edit... edits) {
    ALL.add(new Mutant("own", name, "", List.of(edits)));
  }

  private static Edit layer(String type, String original, String replacement) {
    return new Edit(LAYER + type + ".java", original, replacement);
  }

  static {
    mutant(
        "a call of the I/O thread is written at once",
        layer(
            "NodeSession",
            "    outbox.add(call);\n",
            "    if (channel.channel().eventLoop().inEventLoop()) {\n      write(call);\n"
                + "      return;\n    }\n    outbox.add(call);\n"));
    mutant(
        "a new connection keeps the number of the old one",
        redis(
            "ConnectionStates",
            "    if (state != State.CONNECTING) {\n      connection++;",
            "    if (state != State.CONNECTING) {"));
    mutant(
        "votes from before a flush still count",
        redis(
            "ConnectionStates",
            "    connection++;\n    if (guard == RestartGuard.OFF && !keepsRecords) {",
            "    if (guard == RestartGuard.OFF && !keepsRecords) {"));
    mutant(
        "a server that lost its keys votes at once",
        redis(
            "Quarantine",
            "return uncheckedFlushes > 0 || lasts(hold, now);",
            "return uncheckedFlushes > 0;"));
    mutant(
        "neither another run of the server nor another marker is noticed",
        redis(
            "Quarantine",
            "    if (seen != null && known != 0 && seen.sinceMicros() != known) {",
            "    if (seen == null && known < 0) {"),
        redis(
            "Quarantine",
            "} else if (!seen.runId().equals(before.runId())) {",
            "} else if (seen.runId().isEmpty()) {"));
    mutant(
        "a flush is not noticed",
        redis(
            "Quarantine",
            "    if (!same && guard != RestartGuard.OFF) {",
            "    if (same && guard == RestartGuard.OFF) {"));
    mutant(
        "requests are sent before the probe is through",
        layer(
            "ConnectionLoop",
            "      current = session;\n    }\n    ServerEvents",
            "      current = session;\n      open = session;\n    }\n    ServerEvents"));
    mutant(
        "a session is ended without a reset",
        layer(
            "NodeSession",
            "      channel.channel().config().setOption(ChannelOption.SO_LINGER, 0);",
            "      channel.channel().config().setOption(ChannelOption.SO_LINGER, -1);"));
    mutant(
        "the late end of an old session ends the current one",
        layer(
            "ConnectionLoop",
            "      if (session != null && current != session) {\n        return;\n      }\n"
                + "      long usableNanos",
            "      long usableNanos"));
    mutant(
        "a call may be answered twice",
        layer(
            "ScriptCall",
            "  public void complete() {\n    if (!answered.compareAndSet(false, true)) {\n"
                + "      return;\n    }",
            "  public void complete() {\n    answered.set(false);"),
        layer(
            "ScriptCall",
            "  private boolean fail(NodeError error) {\n"
                + "    if (!answered.compareAndSet(false, true)) {\n      return false;\n    }",
            "  private boolean fail(NodeError error) {\n"));
    mutant(
        "a call is sent again behind the release that undoes it",
        layer(
            "NodeSession",
            "if (again == null || (call.isUndoable() && releases[slot(call)] !="
                + " call.releasesBefore())) {",
            "if (again == null) {"));
    mutant(
        "a connection that is silent is kept",
        redis("Silence", "return silentNanos > DEAD_NANOS ? GIVE_UP : WAIT;", "return WAIT;"));
    mutant(
        "a silent connection is not pinged",
        redis("Silence", "return silentNanos > PING_NANOS ? PING : WAIT;", "return WAIT;"));
    mutant(
        "a probe has no deadline",
        layer(
            "ConnectionLoop",
            "            patience.toNanos());\n    long sentNanos",
            "            Long.MAX_VALUE / 4);\n    long sentNanos"));
    mutant(
        "a call without a reply is not failed at the end of the connection",
        layer(
            "ScriptCall",
            "    return fail(Errors.kind(throwable), Errors.message(throwable));",
            "    return false;"),
        layer(
            "ScriptCall",
            "    fail(NodeError.Kind.DISCONNECTED, \"the connection ended before the reply"
                + " arrived\");",
            "    position = -1;"));
    mutant(
        "a call that was refused is sent all the same",
        layer(
            "NodeSession",
            "\" requests have no reply yet\");\n      return;",
            // Lettuce does not write a call that has its reply, so the call is made anew.
            "\" requests have no reply yet\");\n"
                + "      call = new ScriptCall(this, request, request.eval(), asking, handler);"));
    mutant(
        "a call beyond the limit is sent",
        layer(
            "NodeSession",
            "    } else if (unanswered.incrementAndGet() > maxUnanswered) {",
            "    } else if (unanswered.incrementAndGet() > 1_000_000) {"));
    mutant(
        "a call that was refused counts as unanswered for ever",
        layer(
            "NodeSession",
            "      call.refuse(\n          NodeError.Kind.OVERLOADED,",
            "      unanswered.incrementAndGet();\n"
                + "      call.refuse(\n          NodeError.Kind.OVERLOADED,"));
    mutant(
        "the session of a lost connection is not ended",
        layer(
            "ConnectionLoop",
            "    if (session != null) {\n      var unused = session.drop();\n    }\n"
                + "    if (delay >= 0) {",
            "    if (delay >= 0) {"));
    mutant(
        "Lettuce reconnects by itself",
        layer("ClientSetup", ".autoReconnect(false)", ".autoReconnect(true)"),
        // An ended session stops Lettuce from reconnecting, too.
        layer(
            "ConnectionLoop",
            "    if (session != null) {\n      var unused = session.drop();\n    }\n"
                + "    if (delay >= 0) {",
            "    if (why.kind() != NodeError.Kind.DISCONNECTED && session != null) {\n"
                + "      var unused = session.drop();\n    }\n    if (delay >= 0) {"));
    mutant(
        "a close leaves the watch running", layer("ConnectionLoop", "    liveness.close();\n", ""));
    mutant(
        "reconnects have no pause",
        layer(
            "ConnectionLoop",
            "delay = why.equals(OLD) ? 0 : reconnectDelay.nextNanos(usableNanos, served);",
            "delay = 0;"));
    mutant(
        "a reconnect waits, although the connection has served requests",
        redis(
            "ReconnectDelay",
            "    if (served) {\n      return Math.max(0, SHORTEST_NANOS - usableNanos);\n    }\n",
            ""));
    mutant(
        "a server that works again is still held to be erring",
        redis(
            "Trial",
            "    result.accept(errs ? error : null);",
            "    if (errs) {\n      result.accept(error);\n    }"));
    mutant(
        "a restart behind a proxy is not noticed",
        layer(
            "ServerEvents",
            "  void onScriptsLost() {\n    onFlush();",
            "  void onScriptsLost() {"));
    mutant(
        "a request whose reply was malformed counts as not executed",
        redis(
            "scripts/ScriptReplies",
            "return NodeReply.failed(connection, NodeError.Kind.UNEXPECTED, why);",
            "return NodeReply.failed(\n"
                + "        connection, new NodeError(NodeError.Kind.UNEXPECTED, why, true));"));
  }
}
