package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.LockInspection;
import dev.redlock.LockInspection.NodeView;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.Vote;
import dev.redlock.internal.protocol.Survey;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Asks every node about a name and shows what they say. */
final class SurveyDesk {
  private final Client client;
  private final Map<Survey, Consumer<Survey>> open = new ConcurrentHashMap<>();

  SurveyDesk(Client client) {
    this.client = client;
  }

  CompletableFuture<LockInspection> inspect(LockKeys keys) {
    CompletableFuture<LockInspection> shown = new CompletableFuture<>();
    long timeout = client.defaultOptions().nodeTimeout().toNanos();
    client
        .locks()
        .post(
            keys,
            (machine, now, wall) -> {
              Survey s = machine.inspect(timeout, now);
              open.put(
                  s, done -> client.callbacks().execute(() -> shown.complete(show(keys, done))));
            });
    return shown;
  }

  CompletableFuture<LockInspection> breakLock(LockKeys keys) {
    CompletableFuture<LockInspection> shown = new CompletableFuture<>();
    long timeout = client.defaultOptions().nodeTimeout().toNanos();
    inspect(keys)
        .thenAccept(
            before ->
                client
                    .locks()
                    .post(
                        keys,
                        (machine, now, wall) -> {
                          Survey s = machine.breakLock(timeout, now);
                          open.put(
                              s,
                              done ->
                                  client
                                      .callbacks()
                                      .execute(() -> confirm(keys, before, done, shown)));
                        }));
    return shown;
  }

  private void confirm(
      LockKeys keys, LockInspection before, Survey done, CompletableFuture<LockInspection> shown) {
    List<NodeVote> votes = new ArrayList<>();
    for (int i = 0; i < client.nodeSet().count(); i++) {
      boolean did = done.isBroken(i);
      votes.add(
          new NodeVote(
              client.nodeSet().name(i),
              did ? Vote.GRANTED : Vote.SILENT,
              Duration.ZERO,
              did ? null : why(i, done.reply(i)),
              null,
              null));
    }
    if (done.isBroken()) {
      shown.complete(before);
      return;
    }
    AcquireReport report =
        new AcquireReport(
            keys.names(),
            AcquireReport.Verdict.UNAVAILABLE,
            client.nodeSet().count() / 2 + 1,
            votes,
            Duration.ZERO,
            1);
    shown.completeExceptionally(new QuorumUnavailableException("lock not broken", report));
  }

  /** Called by the queue when a survey is over. */
  void finished(Survey survey) {
    Consumer<Survey> taker = open.remove(survey);
    if (taker != null) {
      taker.accept(survey);
    }
  }

  private LockInspection show(LockKeys keys, Survey survey) {
    List<NodeView> views = new ArrayList<>();
    int n = client.nodeSet().count();
    for (int i = 0; i < n; i++) {
      Redlock.NodeState state = client.nodeState(i);
      String stateText =
          state.remaining().isZero()
              ? state.state()
              : state.state() + " for " + state.remaining().toMillis() + " ms";
      NodeReply reply = survey.reply(i);
      if (reply == null || !reply.code().definite()) {
        views.add(new NodeView(client.nodeSet().name(i), stateText, null, null, 0, why(i, reply)));
      } else {
        boolean held = reply.code() == ReplyCode.HELD;
        views.add(
            new NodeView(
                client.nodeSet().name(i),
                stateText,
                held ? reply.mark() : null,
                held ? Duration.ofMillis(reply.remainingMillis()) : null,
                reply.fence(),
                null));
      }
    }
    return new LockInspection(keys.names().get(0), n / 2 + 1, views);
  }

  private String why(int node, @org.jspecify.annotations.Nullable NodeReply reply) {
    if (reply != null) {
      NodeError error = reply.error();
      return error == null ? reply.code().toString() : error.toString();
    }
    NodeStatus status = client.nodeSet().status(node);
    return status.usable()
        ? NodeError.Kind.TIMEOUT + ": no answer in time"
        : NodeError.Kind.DISCONNECTED + ": " + status.cause();
  }
}
