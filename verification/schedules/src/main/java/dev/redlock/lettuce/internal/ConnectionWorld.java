package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.redis.internal.ColdStart;
import dev.redlock.redis.internal.ReconnectDelay;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import io.lettuce.core.event.Event;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.AbstractBootstrap;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;

/**
 * One node of the library, with Lettuce and Netty under it, against scripted servers in virtual
 * time. A seed makes the history: requests, faults and delays. The checker looks at each command on
 * the wire, each reply that the client gets and each status that it shows.
 */
public final class ConnectionWorld {
  private static final long SECOND = 1_000_000_000L;
  private static final long CHAOS_NANOS = 40 * SECOND;
  private static final long CALM_NANOS = 30 * SECOND;
  private static final long MAX_LEASE_NANOS = 5 * SECOND;

  /** Prints each history. */
  private static final boolean TRACE = Boolean.getBoolean("redlock.trace");

  private static final Field FACTORY = factory();

  /** A rule of the connection layer that a history broke. */
  public static final class Broken extends AssertionError {
    private static final long serialVersionUID = 1;

    Broken(String rule) {
      super(rule);
    }
  }

  /** The result of one seed. */
  public record Result(
      long seed,
      String broken,
      long digest,
      int requests,
      int counted,
      int connections,
      Map<String, Integer> events) {}

  private static final class Call {
    final long number;
    final LockRequest request;
    final long postedNanos;
    int replies;
    int arrivals;
    Link executedOn;
    long executedNanos;
    long lostBefore;
    boolean lastNoScript;
    boolean toldNotExecuted;

    // Once its vote counts.
    long countedUnder;
    int flushesSeen;

    Call(long number, LockRequest request, long postedNanos) {
      this.number = number;
      this.request = request;
      this.postedNanos = postedNanos;
    }
  }

  private final long seed;
  private final Random random;
  private final VirtualLoop loop = new VirtualLoop();
  private final List<ScriptedServer> servers = new ArrayList<>();
  private final List<Link> links = new ArrayList<>();
  private final Map<Long, Call> calls = new HashMap<>();
  private final Map<Long, Link> linkOfNumber = new HashMap<>();
  private final Map<Link, Long> newest = new HashMap<>();
  private final Map<String, Integer> events = new HashMap<>();
  private final Set<String> released = new HashSet<>();
  private final List<Call> votes = new ArrayList<>();
  private final List<Long> connects = new ArrayList<>();
  private final NodeConnection connection;
  private final int maxUnanswered;
  private ScriptedServer current;
  private boolean refusing;
  private boolean blackHole;
  private boolean calm;
  private boolean closed;
  private NodeStatus told;
  private long numbers;
  private long lastByteNanos;
  private int counted;
  private long digest = 17;
  private String broken = "";

  private ConnectionWorld(long seed) {
    this.seed = seed;
    random = new Random(seed * 0x9E3779B97F4A7C15L + 7);
    maxUnanswered = random.nextInt(4) == 0 ? 6 : 10_000;
    for (int i = 0; i < 3; i++) {
      long age = random.nextInt(3) == 0 ? random.nextInt(12) * SECOND : 3_600 * SECOND;
      servers.add(new ScriptedServer("server" + i, loop, age));
    }
    current = servers.get(0);
    LettuceOptions options =
        LettuceOptions.builder().clientResources(resources()).maxUnanswered(maxUnanswered).build();
    connection =
        new NodeConnection(
            NodeUri.parse("redis://10.0.0.1:6379"),
            options,
            new SharedResources(options.clientResources(), Runnable::run),
            false);
  }

  /** Runs one seed. */
  public static Result run(long seed) {
    ColdStart.OF_JVM.end(); // A history must not depend on those that ran before.
    return new ConnectionWorld(seed).run();
  }

  /**
   * Runs one seed in which a server loses its keys each time a client begins to load scripts.
   *
   * @param used whether each server has the keys of a client that has ended
   */
  static Result runWithFlushesBeforeScripts(long seed, boolean used) {
    ColdStart.OF_JVM.end();
    ConnectionWorld world = new ConnectionWorld(seed);
    for (ScriptedServer server : world.servers) {
      server.onLoad = world::flush;
      if (used) {
        server.wasUsed();
      }
    }
    return world.run();
  }

  /**
   * Runs one seed in which a server may lose its keys when a client asks how old a promotion is.
   */
  static Result runWithFlushesBeforeProofs(long seed) {
    ColdStart.OF_JVM.end();
    ConnectionWorld world = new ConnectionWorld(seed);
    for (ScriptedServer server : world.servers) {
      server.promoted = true;
      server.onProof =
          () -> {
            if (!world.calm && world.random.nextBoolean()) {
              world.flush();
            }
          };
    }
    return world.run();
  }

  /** The rule that this seed breaks; empty if it breaks none. */
  public static String brokenBy(long seed) {
    return run(seed).broken();
  }

  private Result run() {
    try {
      play();
    } catch (Broken | IllegalStateException e) {
      broken(e.toString());
    }
    return new Result(
        seed, broken, digest, calls.size(), counted, links.size(), Map.copyOf(events));
  }

  private void play() {
    Random jitter = new Random(seed + 1);
    connection.start(
        new LockNode.Context(
            Duration.ofNanos(MAX_LEASE_NANOS),
            RestartGuard.UPTIME,
            "redlock",
            "",
            false,
            loop,
            new Listener()));
    replaceJitter(jitter);
    plan();
    loop.runUntil(loop.nanos() + CHAOS_NANOS);
    repairAll();
    loop.runUntil(loop.nanos() + CALM_NANOS);
    check(
        status().state() == NodeStatus.State.VOTING && !status().erring(),
        "liveness: after " + CALM_NANOS / SECOND + " s without a fault the node is " + status());
    Call last = post("acquire", "calm");
    loop.runUntil(loop.nanos() + 2 * SECOND);
    check(last.replies == 1 && last.executedNanos != 0, "liveness: a request was not executed");
    close();
  }

  private void close() {
    closed = true;
    Call before = post("acquire", "closing");
    connection.close();
    int after = links.size();
    Call late = post("acquire", "closed");
    loop.runUntil(loop.nanos() + 10 * SECOND);
    check(before.replies == 1 && late.replies == 1, "close: a request has no reply");
    check(links.size() == after, "close: the client connected again");
    check(links.stream().noneMatch(Link::isOpen), "close: a connection is open");
    for (Call call : calls.values()) {
      check(call.replies == 1, "once: request " + call.number + " has " + call.replies);
    }
    check(loop.pending() == 0, "close: " + loop.pending() + " timers are left");
  }

  private NodeStatus status() {
    return connection.status();
  }

  // The plan of a seed.

  private void plan() {
    int requests = 40 + random.nextInt(120);
    for (int i = 0; i < requests; i++) {
      loop.at(time(), this::request);
    }
    int faults = random.nextInt(30);
    for (int i = 0; i < faults; i++) {
      loop.at(time(), this::fault);
    }
    for (long at = 0; at < CHAOS_NANOS + CALM_NANOS; at += 50_000_000) {
      loop.at(at, this::check);
    }
  }

  private long time() {
    return (long) (random.nextDouble() * CHAOS_NANOS);
  }

  private void request() {
    String lease = "lease" + ++numbers;
    boolean inLoop = random.nextInt(3) == 0;
    Runnable burst =
        () -> {
          int count = random.nextInt(5) == 0 ? 12 : 1;
          for (int i = 0; i < count; i++) {
            var unused = post("acquire", lease + "-" + i);
            if (random.nextBoolean()) {
              var also = post("release", lease + "-" + i);
              check(also != null, "posted");
            } else if (random.nextInt(3) == 0) {
              var also = post("extend", lease + "-" + i);
              check(also != null, "posted");
            }
          }
        };
    if (inLoop) {
      loop.execute(burst); // The loop's thread executes this after the next request was sent.
      var unused = post("acquire", lease);
    } else {
      burst.run();
    }
  }

  private Call post(String kind, String leaseId) {
    long number = 1_000L + calls.size();
    LockKeys keys = LockKeys.of("redlock", List.of("name" + Math.floorMod(leaseId.hashCode(), 3)));
    LockRequest request =
        switch (kind) {
          case "acquire" -> new LockRequest.Acquire(keys, leaseId, number, 5_000, null);
          case "extend" -> new LockRequest.Extend(keys, leaseId, number, 5_000);
          default -> new LockRequest.Release(keys, leaseId, number, true, 0, null);
        };
    Call call = new Call(number, request, loop.nanos());
    calls.put(number, call);
    trace("post " + number + " " + kind + " " + leaseId);
    connection.send(request, new Handler(call));
    checkUnanswered();
    return call;
  }

  /**
   * Beyond the limit, releases wait until replies arrive, and the session refuses other requests.
   */
  private void checkUnanswered() {
    long open =
        calls.values().stream()
            .filter(call -> call.replies == 0 && !(call.request instanceof LockRequest.Release))
            .count();
    check(open <= maxUnanswered, "limit: " + open + " requests have no reply");
  }

  private void fault() {
    if (calm) {
      return;
    }
    Link link = links.isEmpty() ? null : links.get(links.size() - 1);
    int kind = random.nextInt(19);
    switch (kind) {
      case 0, 1 -> onLink("drop", link, l -> l.drop(random.nextBoolean()));
      case 2 -> restart(true);
      case 3 -> restart(false);
      case 4 -> during("refused connects", on -> refusing = on);
      case 5 -> during("silent connects", on -> blackHole = on);
      case 6 -> onLink("half-open", link, Link::halfOpen);
      case 7, 8 -> onLink("hang", link, this::hang);
      case 9 -> flush();
      case 10 -> {
        if (random.nextBoolean()) {
          event("scripts forgotten", current::forgetScripts);
        } else {
          event("scripts forgotten and loaded", this::forgetForAMoment);
        }
      }
      case 11, 12 -> {
        ScriptedServer server = current;
        String error = ScriptedServer.ERRORS.get(random.nextInt(ScriptedServer.ERRORS.size()));
        during("error " + error.split(" ")[0], on -> server.error = on ? error : null);
      }
      case 13 -> {
        ScriptedServer server = current;
        during("login refused", on -> server.loginRefused = on);
        onLink("drop", link, l -> l.drop(true));
      }
      case 14 -> {
        ScriptedServer server = current;
        during("loading", on -> server.loading = on);
      }
      case 15 -> move(link);
      case 16 -> {
        ScriptedServer server = current;
        if (random.nextBoolean()) {
          during("INFO refused", on -> server.infoRefused = on);
        } else {
          during("marker refused", on -> server.markerRefused = on);
        }
        if (random.nextBoolean()) {
          onLink("drop", link, l -> l.drop(true));
        }
      }
      case 17 -> onLink("restart behind a proxy", link, this::restartBehindProxy);
      default -> {
        if (random.nextBoolean()) {
          onLink(
              "invalidation",
              link,
              l -> l.push(">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredlock:{name1}\r\n"));
        } else {
          event("malformed reply", () -> current.malformed = true);
        }
      }
    }
  }

  private void event(String name, Runnable action) {
    events.merge(name, 1, Integer::sum);
    trace(name);
    mix(name.hashCode());
    action.run();
  }

  private void onLink(String name, Link link, java.util.function.Consumer<Link> action) {
    if (link != null && link.established) {
      event(name, () -> action.accept(link));
    }
  }

  /** Another client loads the scripts again, between an acquire and the release that undoes it. */
  private void forgetForAMoment() {
    ScriptedServer server = current;
    server.forgetScripts();
    for (int i = 0; i < 4; i++) {
      String lease = "moment" + ++numbers;
      var unused = post("acquire", lease);
      loop.at(
          random.nextInt(600_000),
          () -> {
            var undo = post("release", lease);
            check(undo != null, "posted");
          });
    }
    loop.at(random.nextInt(1_000_000), server::loadScripts);
  }

  private void during(String name, java.util.function.Consumer<Boolean> action) {
    event(name, () -> action.accept(true));
    loop.at(20_000_000 + random.nextInt(2_000_000_000), () -> action.accept(false));
  }

  private void hang(Link link) {
    link.hang();
    loop.at(random.nextInt(8) * SECOND, link::resume);
  }

  private void restart(boolean empty) {
    ScriptedServer server = current;
    event(empty ? "restart without keys" : "restart with keys", () -> server.up = false);
    for (Link link : links) {
      if (link.server == server) {
        link.drop(true);
      }
    }
    loop.at(
        random.nextInt(1_000_000_000),
        () -> {
          server.up = true;
          server.restart(empty);
        });
  }

  /** The connection outlives the server's process, so the server no longer tracks keys for it. */
  private void restartBehindProxy(Link link) {
    if (link.server.up && link.isOpen()) {
      link.proxied = true;
      link.server.restartBehindProxy();
    }
  }

  private void flush() {
    event("flush", current::loseKeys);
    for (Link link : links) {
      if (link.server == current && link.proxied) {
        link.drop(true); // The client would not receive the invalidation.
      } else if (link.server == current) {
        link.pushFlush();
      }
    }
  }

  private void move(Link link) {
    event("another server", () -> current = servers.get(random.nextInt(servers.size())));
    if (link != null) {
      link.drop(true);
    }
  }

  private void repairAll() {
    calm = true;
    refusing = false;
    blackHole = false;
    for (ScriptedServer server : servers) {
      server.loginRefused = false;
      server.infoRefused = false;
      server.markerRefused = false;
      server.loading = false;
      server.error = null;
      server.malformed = false;
    }
  }

  // The wire.

  void connecting(Link link) {
    mix(3);
    checkPause();
    links.add(link);
    connects.add(loop.nanos());
    check(!closed, "close: connects again");
    int busy = 0;
    for (Link other : links) {
      busy += other != link && !other.closedByClient && !other.droppedByServer ? 1 : 0;
    }
    check(busy == 0, "one: " + busy + " other connections are open");
    long recent = connects.stream().filter(at -> loop.nanos() - at < SECOND).count();
    check(recent <= 100, "storm: " + recent + " connects in a second");
    if (blackHole) {
      return;
    }
    boolean refused = refusing || !link.server.up;
    loop.at(50_000 + random.nextInt(300_000), refused ? link.channel::refused : link::establish);
  }

  /** A server that has served requests works: the first reconnect waits for nothing. */
  private void checkPause() {
    if (!links.isEmpty() && links.get(links.size() - 1).served) {
      long pause = loop.nanos() - status().sinceNanos();
      check(
          pause <= ReconnectDelay.SHORTEST_NANOS,
          "reconnect: " + pause / 1_000_000 + " ms after a connection that served requests");
    }
  }

  /**
   * While the server loads scripts, or says its clock because it refused the marker, the client has
   * two replies of the probe and may still lose patience (seeds 145 and 799).
   */
  void closedByClient(Link link, boolean reset) {
    mix(11);
    check(
        closed || link.faulty || link.droppedByServer || !link.probed,
        "ended: the client ended a connection that works");
    check(
        reset || link.probeReplies < 2 || link.droppedByServer,
        "reset: a session was ended so that the server may still execute what it has not read");
  }

  void byteArrived(Link link) {
    lastByteNanos = loop.nanos();
    check(link.established, "established");
  }

  void executed(Link link, ScriptedServer.Answer answer) {
    ScriptedServer.Executed executed = answer.executed();
    if (executed == null || executed.leaseId().equals("trial")) {
      return;
    }
    Call call = calls.get(executed.token());
    trace("wire " + link.id + " " + call.request + " " + executed);
    mix(call.number * 31 + link.id);
    check(link.probeReplies >= 2, "probe: a request is on the wire before the probe is through");
    boolean again = call.executedOn == link && call.lastNoScript;
    check(
        call.arrivals == 0 || again,
        "twice: request " + call.number + " is on the wire again without cause");
    boolean release = call.request instanceof LockRequest.Release;
    String lease = executed.leaseId();
    if (release && executed.done()) {
      released.add(link.id + lease);
    } else if (executed.done()) {
      check(!released.contains(link.id + lease), "order: " + lease + " comes behind its release");
    }
    if (call.arrivals == 0) {
      long before = newest.getOrDefault(link, 0L);
      // The release waited until replies arrived.
      boolean delayed = release && maxUnanswered < 100;
      check(delayed || before < call.number, "order: " + call.number + " behind " + before);
      newest.put(link, Math.max(before, call.number));
    }
    call.arrivals++;
    call.executedOn = link;
    call.lastNoScript = executed.noScript();
    if (executed.done()) {
      check(
          !call.toldNotExecuted,
          "truth: request " + call.number + " is executed, the client was told that it is not");
      call.executedNanos = loop.nanos();
      call.lostBefore = link.server.lostNanos;
    }
  }

  // The events of the client.

  private final class Handler implements Consumer<NodeReply> {
    private final Call call;

    Handler(Call call) {
      this.call = call;
    }

    @Override
    public void accept(NodeReply reply) {
      call.replies++;
      trace("reply " + call.number + " " + reply);
      NodeError error = reply.error();
      mix(
          call.number * 7
              + reply.code().ordinal()
              + (error == null ? 0 : 31L * error.kind().ordinal())
              + loop.nanos());
      check(call.replies == 1, "once: request " + call.number + " got a second reply");
      check(isInTime(call), "late: request " + call.number + " got its reply: " + reply);
      if (error != null) {
        call.toldNotExecuted = error.notExecuted();
        check(
            !error.notExecuted() || call.executedNanos == 0,
            "truth: request " + call.number + " was executed, the client is told " + error);
        return;
      }
      check(call.executedNanos != 0, "truth: " + reply + " for a request that was not executed");
      if (call.executedOn != null) {
        call.executedOn.served = true;
      }
      boolean counts =
          reply.connection() == status().connection()
              && status().state() == NodeStatus.State.VOTING;
      if (counts && reply.code() == Code.GRANTED) {
        counted++;
        vote(reply);
      }
      if (random.nextInt(20) == 0 && !calm) { // From within the handler, on the loop.
        var unused = post("release", "lease-in-handler-" + call.number);
      }
    }

    /**
     * A vote counts now. It must come from the open connection, and from a server that has lost no
     * keys.
     */
    private void vote(NodeReply reply) {
      Link link = call.executedOn;
      check(!link.closedByClient, "drop: a vote of a closed connection counts");
      call.countedUnder = reply.connection();
      call.flushesSeen = link.flushesSeen;
      votes.add(call);
      Link same = linkOfNumber.putIfAbsent(reply.connection(), link);
      check(
          same == null || same == link,
          "drop: number " + reply.connection() + " belongs to two connections");
      long age = call.executedNanos - call.lostBefore;
      check(
          age >= MAX_LEASE_NANOS,
          "memory: a vote counts of a server that lost its keys " + age / 1_000_000 + " ms before");
    }
  }

  private final class Listener implements LockNode.Listener {
    @Override
    public void onStatus(LockNode of) {
      told = status();
      if (told.usable()) {
        links.get(links.size() - 1).probed = true;
      }
      mix(told.state().ordinal() + 5 * told.connection() + loop.nanos());
    }

    @Override
    public void onInvalidated(LockNode of, String key) {
      mix(key.hashCode());
      check(status().usable() || closed, "invalidation: the session is not open");
    }

    @Override
    public void onAllInvalidated(LockNode of) {}
  }

  /** Looks at the node from outside, twenty times a second. */
  private void check() {
    NodeStatus now = status();
    Link link = links.isEmpty() ? null : links.get(links.size() - 1);
    if (closed || link == null) {
      return;
    }
    if (now.usable()) {
      check(
          link.established && !link.closedByClient,
          "status: the node is " + now.state() + " without a connection");
      check(loop.nanos() - lastByteNanos < 10 * SECOND, "silence: usable without a byte for 10 s");
      check(told != null && told.equals(now), "listener: it was told " + told + ", it is " + now);
    }
    if (now.state() == NodeStatus.State.VOTING) {
      for (Call vote : votes) {
        boolean counts = vote.countedUnder == now.connection();
        check(!counts || !vote.executedOn.closedByClient, "drop: a vote outlives its connection");
        check(
            !counts || vote.flushesSeen == vote.executedOn.flushesSeen,
            "flush: a vote outlives a flush");
      }
    }
    for (Call call : calls.values()) {
      check(call.replies == 1 || isInTime(call), "late: request " + call.number + " has no reply");
    }
  }

  /**
   * The client closes a connection after a time without bytes. So a hang takes this time, and so
   * does a half-open connection after it.
   */
  private boolean isInTime(Call call) {
    return loop.nanos() - Math.max(call.postedNanos, lastByteNanos) < 8 * SECOND;
  }

  private void check(boolean holds, String rule) {
    if (!holds) {
      broken(rule);
    }
  }

  private void broken(String rule) {
    if (broken.isEmpty()) {
      broken = rule + " (at " + (loop.nanos() / 1_000_000 - 1_000_000) + " ms)";
    }
  }

  private void trace(String what) {
    if (TRACE) {
      System.out.printf("%.3f %s%n", (loop.nanos() - 1_000_000_000_000L) / 1e6, what);
    }
  }

  private void mix(long value) {
    digest = 31 * digest + value;
  }

  // Lettuce and Netty on the loop.

  private ClientResources resources() {
    return ClientResources.builder()
        .eventLoopGroupProvider(new Provider())
        .eventExecutorGroup(loop)
        .timer(loop)
        .eventBus(new NoEvents())
        .commandLatencyRecorder(CommandLatencyRecorder.disabled())
        .addressResolverGroup(NoopAddressResolverGroup.INSTANCE)
        .nettyCustomizer(
            new NettyCustomizer() {
              @Override
              public void afterBootstrapInitialized(Bootstrap bootstrap) {
                ChannelFactory<VirtualChannel> factory = ConnectionWorld.this::channel;
                try {
                  FACTORY.set(bootstrap, factory);
                } catch (IllegalAccessException e) {
                  throw new IllegalStateException(e);
                }
              }
            })
        .build();
  }

  private VirtualChannel channel() {
    Link link = new Link(links.size(), current, this, loop, new Random(random.nextLong()));
    return new VirtualChannel(link);
  }

  private static Field factory() {
    try {
      Field field = AbstractBootstrap.class.getDeclaredField("channelFactory");
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The pauses between connects are random; here they depend on the seed. */
  private void replaceJitter(Random jitter) {
    try {
      Field loopField = NodeConnection.class.getDeclaredField("loop");
      loopField.setAccessible(true);
      Field reconnectDelay = ConnectionLoop.class.getDeclaredField("reconnectDelay");
      reconnectDelay.setAccessible(true);
      reconnectDelay.set(loopField.get(connection), new ReconnectDelay(jitter::nextDouble));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class NoEvents implements EventBus {
    @Override
    public Flux<Event> get() {
      return Flux.empty();
    }

    @Override
    public void publish(Event event) {}
  }

  private final class Provider implements EventLoopGroupProvider {
    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
      return (T) loop;
    }

    @Override
    public int threadPoolSize() {
      return 1;
    }

    @Override
    public Future<Boolean> release(
        EventExecutorGroup group, long quietPeriod, long timeout, TimeUnit unit) {
      return loop.newSucceededFuture(true);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit timeUnit) {
      return loop.newSucceededFuture(true);
    }
  }
}
