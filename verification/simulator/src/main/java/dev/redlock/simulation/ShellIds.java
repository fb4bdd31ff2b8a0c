package dev.redlock.simulation;

import dev.redlock.internal.SimulatedClient;
import dev.redlock.internal.protocol.Randomness;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * The lease ids of a process, by the rule that ships. A copy of the process continues with the ids
 * that the original would draw next.
 *
 * <p>The rule uses the clock as well, but two copies may draw in the same nanosecond. Here they
 * always do: the clock stands still. It runs only while a copy has no connection, because nothing
 * else distinguishes it from the original then.
 */
final class ShellIds implements Randomness {
  private static final int DRAW = -1;

  private final ShellClient client;
  private final long seed;
  private final Randomness rule;

  /** What happened to the generator, in order. A copy repeats it. */
  private final List<Call> calls = new ArrayList<>();

  private boolean connected = true;

  /** The first id of the original, of which the name in queues is a part; null if it is drawn. */
  private String first;

  /** One call of the rule: an id was drawn, or this node was probed. */
  private record Call(int node, long nodeMicros) {}

  ShellIds(ShellClient client, long seed) {
    this(client, seed, client.name());
  }

  private ShellIds(ShellClient client, long seed, String label) {
    this.client = client;
    this.seed = seed;
    rule = SimulatedClient.ids("~" + label, new Seeded(seed), () -> connected ? 0 : client.mono());
  }

  /** The ids of a process that starts from a memory image of this one. */
  ShellIds copy(ShellClient copy) {
    ShellIds ids = new ShellIds(copy, seed, client.name());
    for (Call call : calls) {
      String drawn = ids.repeat(call);
      ids.first = ids.first == null ? drawn : ids.first;
    }
    ids.connected = false;
    return ids;
  }

  private String repeat(Call call) {
    calls.add(call);
    if (call.node() == DRAW) {
      return rule.leaseId();
    }
    rule.probed(call.node(), call.nodeMicros());
    return null;
  }

  @Override
  public double next() {
    return client.next();
  }

  @Override
  public String leaseId() {
    if (first != null) {
      String name = first;
      first = null;
      return name;
    }
    return repeat(new Call(DRAW, 0));
  }

  @Override
  public void probed(int node, long nodeMicros) {
    connected = true;
    repeat(new Call(node, nodeMicros));
  }

  /** The state of the secure generator is part of the image. */
  @SuppressWarnings("serial")
  private static final class Seeded extends SecureRandom {
    private final transient Rng source;

    Seeded(long seed) {
      source = new Rng(seed);
    }

    @Override
    public void nextBytes(byte[] bytes) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) source.nextLong();
      }
    }
  }
}
