package dev.redlock.operations.internal;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

import dev.redlock.RedlockClosedException;
import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Seen;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.Diagnosis;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.LockState;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.SetProgress;
import dev.redlock.operations.internal.SetOperator.Goal;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeRecord;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/** The operators' side of a client: checks that it is open, and passes calls on to its parts. */
final class ClientOperations implements OperatorClient.Side {
  final OperatorClient client;
  final LockWatches watches = new LockWatches();
  final Set<Listing> listings = ConcurrentHashMap.newKeySet();
  final LockInspector inspector;
  private final Doctor doctor;

  ClientOperations(OperatorClient client) {
    this.client = client;
    inspector = new LockInspector(client);
    doctor = new Doctor(client);
  }

  @Override
  public void changed(String key) {
    watches.changed(key);
  }

  @Override
  public void allChanged() {
    watches.allChanged();
  }

  @Override
  public void closed() {
    watches.clientClosed();
    listings.forEach(Listing::clientClosed);
  }

  @Override
  public void ended() {
    doctor.ended();
  }

  @Override
  public CompletionStage<LockInspection> inspect(String name) {
    requireOpen();
    return inspector.inspect(keys(name), false);
  }

  @Override
  public CompletionStage<LockInspection> breakLock(String name) {
    requireOpen();
    return inspector.breakLock(keys(name));
  }

  @Override
  public CompletionStage<Diagnosis> doctor() {
    requireOpen();
    return doctor.examine();
  }

  @Override
  public LockListing list(String pattern) {
    requireNonNull(pattern, "pattern");
    requireOpen();
    Listing listing = new Listing(this, pattern);
    listings.add(listing);
    if (client.isClosed()) { // The close may have missed it.
      listing.clientClosed();
    }
    return listing;
  }

  @Override
  public Flow.Publisher<LockState> watch(String name) {
    LockKeys keys = keys(name);
    requireOpen();
    long pollNanos = client.defaultOptions().pollInterval().toNanos();
    return subscriber -> {
      LockWatch watch =
          new LockWatch(this, keys, pollNanos, requireNonNull(subscriber, "subscriber"));
      watch.start();
      if (client.isClosed()) {
        watch.clientClosed();
      }
    };
  }

  private LockKeys keys(String name) {
    return LockKeys.of(client.settings().keyPrefix(), List.of(name));
  }

  @Override
  public CompletionStage<List<String>> addNode(String node, Consumer<SetProgress> progress) {
    return change(List.of(new Goal(nameOf(node), null, 0)), Set.of(), progress);
  }

  @Override
  public CompletionStage<List<String>> removeNode(
      String name, Set<String> gone, Consumer<SetProgress> progress) {
    return change(List.of(new Goal(null, member(name), 0)), gone, progress);
  }

  @Override
  public CompletionStage<List<String>> replaceNode(
      String name, String node, Set<String> gone, Consumer<SetProgress> progress) {
    String added = nameOf(node);
    String removed = member(name);
    requireNonNull(progress, "progress");
    if (added.equals(removed)) {
      String why =
          " cannot take its own place: a member that starts empty becomes one again itself";
      return CompletableFuture.failedFuture(Refusals.because(removed + why));
    }
    Goal add = new Goal(added, null, 0);
    Goal remove = new Goal(null, removed, 0);
    boolean alive =
        client.set().seen().stream()
            .anyMatch(seen -> seen.alias().equals(removed) && seen.status().usable());
    return change(alive ? List.of(add, remove) : List.of(remove, add), gone, progress);
  }

  @Override
  public CompletionStage<Void> forgetRecord(String node) {
    requireOpen();
    String called = member(node);
    List<Seen> seen = client.set().seen();
    for (int i = 0; i < seen.size(); i++) {
      NodeRecord record = seen.get(i).status().record();
      boolean found = called.equals(seen.get(i).name()) || called.equals(seen.get(i).alias());
      if (found && seen.get(i).status().usable() && record != null) {
        var change = new NodeRecord.Change(NodeRecord.Change.Kind.FORGET, record);
        CompletionStage<NodeRecord> failed =
            CompletableFuture.failedStage(new IllegalStateException("change() failed"));
        return client
            .ask(i, "change", asked -> asked.change(change), failed)
            .thenAccept(ClientOperations::requireForgotten);
      }
    }
    return CompletableFuture.failedFuture(Refusals.because("this client does not reach " + called));
  }

  @Override
  public CompletionStage<Void> changeMaxLeaseTime(
      Duration maxLeaseTime, Consumer<SetProgress> progress) {
    long millis = Members.checkMaxLeaseTime(maxLeaseTime).toMillis();
    if (millis < 1) {
      throw new IllegalArgumentException(
          "maxLeaseTime " + Printable.of(maxLeaseTime) + " is shorter than 1 ms");
    }
    return change(List.of(new Goal(null, null, millis)), Set.of(), progress)
        .thenAccept(members -> {});
  }

  private static void requireForgotten(NodeRecord stored) {
    if (!stored.equals(NodeRecord.NONE)) {
      throw Refusals.because("the record has changed meanwhile: " + stored.withId());
    }
  }

  private String nameOf(String node) {
    requireOpen();
    requireNonNull(node, "node");
    int nodes = client.set().seen().size();
    for (int i = 0; i < nodes; i++) {
      Optional<LockNode> made = client.node(i).sibling(node);
      if (made.isPresent()) {
        return made.get().name();
      }
    }
    return node.substring(node.lastIndexOf('@') + 1); // Names contain no credentials.
  }

  /** The name of a member; if it may be a URI, that of its address, without a password. */
  private String member(String name) {
    boolean uri = requireNonNull(name, "name").contains("://") || name.indexOf('@') >= 0;
    return uri && !client.set().current().members().contains(name) ? nameOf(name) : name;
  }

  private CompletionStage<List<String>> change(
      List<Goal> goals, Set<String> gone, Consumer<SetProgress> progress) {
    requireNonNull(progress, "progress");
    requireOpen();
    Set<String> names = gone.stream().map(this::member).collect(toSet());
    return new SetChange(client, goals, names, progress).start();
  }

  private void requireOpen() {
    if (client.isClosed()) {
      throw new RedlockClosedException();
    }
  }

  @Override
  public CompletionStage<Void> ready() {
    return client.ready();
  }

  @Override
  public List<NodeState> nodes() {
    return client.nodes();
  }

  @Override
  public <T> T unwrap(Class<T> type) {
    return client.unwrap(type);
  }
}
