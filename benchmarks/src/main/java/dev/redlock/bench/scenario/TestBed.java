package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.Contender;
import dev.redlock.bench.system.Peer;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The masters of one scenario and the systems that are connected to them. Close stops all of them.
 */
final class TestBed implements AutoCloseable {
  private final RedisNodes nodes;
  private final Map<Peer, Contender> contenders = new LinkedHashMap<>();

  private TestBed(RedisNodes nodes) {
    this.nodes = nodes;
  }

  static TestBed start(int count, List<Peer> peers) {
    TestBed world = new TestBed(RedisNodes.start(count));
    try {
      peers.forEach(world::connect);
    } catch (RuntimeException e) {
      world.close();
      throw e;
    }
    return world;
  }

  RedisNodes nodes() {
    return nodes;
  }

  List<Peer> peers() {
    return List.copyOf(contenders.keySet());
  }

  Contender contender(Peer peer) {
    return Objects.requireNonNull(contenders.get(peer));
  }

  Slice drive(Peer peer, Load load) throws Exception {
    return contender(peer).drive(load);
  }

  /** Connects a system; reconnects it if it is connected already. */
  void connect(Peer peer) {
    Contender before = contenders.remove(peer);
    if (before != null) {
      before.close();
    }
    contenders.put(peer, peer.open(nodes.uris()));
  }

  /** Runs each system until its code is compiled and its pools are filled. Nothing is recorded. */
  void warmUp(Load load, Duration time) throws Exception {
    for (Peer peer : peers()) {
      if (contender(peer).can(load)) {
        drive(peer, load.lasting(time));
      }
    }
    Cpu.awaitIdle();
  }

  @Override
  public void close() {
    try {
      contenders.values().forEach(Contender::close);
    } finally {
      nodes.close();
    }
  }
}
