package dev.redlock.cluster.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.cluster.internal.Topology.Range;
import dev.redlock.cluster.internal.Topology.Roles;
import dev.redlock.cluster.internal.Topology.Server;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Reads the topology from one server: {@code CLUSTER SLOTS} for slots and endpoints, and {@code
 * CLUSTER NODES} for epochs and for nodes that have failed. Without permission for the second, the
 * topology has neither.
 */
final class TopologyReader {
  /** The elements of a range before its servers: first and last slot. */
  private static final int SERVERS_FROM = 2;

  /** In a line of {@code CLUSTER NODES}. */
  private static final int FLAGS_COLUMN = 2;

  private static final int EPOCH_COLUMN = 6;

  private TopologyReader() {}

  /** Sends a command; returns null if that is not possible. */
  interface Sender {
    <T> @Nullable CompletionStage<T> send(Command<byte[], byte[], T> command);
  }

  /**
   * Asks one server.
   *
   * @param asked the endpoint that was asked, for servers that are reported without a host
   */
  static CompletionStage<Topology> ask(Sender server, Address asked) {
    CompletionStage<List<Object>> slots =
        server.send(
            new Command<>(
                CommandType.CLUSTER,
                new NestedMultiOutput<>(ByteArrayCodec.INSTANCE),
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add("SLOTS")));
    CompletionStage<String> nodes =
        server.send(
            new Command<>(
                CommandType.CLUSTER,
                new StatusOutput<>(ByteArrayCodec.INSTANCE),
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add("NODES")));
    if (slots == null || nodes == null) {
      return CompletableFuture.failedStage(new IllegalStateException(asked + " is not connected"));
    }
    return slots.thenCombine(
        nodes.handle((text, failure) -> failure == null ? roles(text) : Roles.UNKNOWN),
        (ranges, roles) -> read(ranges, roles, asked));
  }

  /** Reads the replies. Throws a RuntimeException if they are not what a cluster replies. */
  static Topology read(List<?> ranges, Roles roles, Address asked) {
    List<Range> owners = new ArrayList<>();
    List<Server> replicas = new ArrayList<>();
    for (Object each : ranges) {
      List<?> range = (List<?>) each;
      Server master = null;
      for (Object one : range.subList(SERVERS_FROM, range.size())) {
        Server server = server((List<?>) one, asked);
        if (master == null) {
          master = server;
        } else {
          replicas.add(server);
        }
      }
      int first = Math.toIntExact((Long) range.get(0));
      int last = Math.toIntExact((Long) range.get(1));
      if (master == null || first < 0 || last >= Slots.COUNT || first > last) {
        throw new IllegalStateException(asked + " reports impossible slots: " + first + "-" + last);
      }
      owners.add(new Range(first, last, master));
    }
    if (owners.isEmpty()) {
      throw new IllegalStateException(asked + " reports that no server of the cluster has slots");
    }
    return Topology.of(owners, replicas, roles);
  }

  /** Preferred endpoint, port, node id, then other endpoints as pairs of kind and text. */
  private static Server server(List<?> words, Address asked) {
    int port = Math.toIntExact((Long) words.get(1));
    List<Address> endpoints = new ArrayList<>();
    String preferred = text(words.get(0));
    endpoints.add(new Address(Address.isUnknown(preferred) ? asked.host() : preferred, port));
    if (words.size() > 3 && words.get(3) instanceof List<?> pairs) {
      for (int i = 0; i + 1 < pairs.size(); i += 2) {
        String other = text(pairs.get(i + 1));
        if (!Address.isUnknown(other)) {
          Address address = new Address(other, port);
          if (!endpoints.contains(address)) {
            endpoints.add(address);
          }
        }
      }
    }
    return new Server(words.size() > 2 ? text(words.get(2)) : "", endpoints);
  }

  private static String text(@Nullable Object word) {
    return word instanceof byte[] bytes ? new String(bytes, UTF_8) : "";
  }

  static Roles roles(String text) {
    Set<String> all = new HashSet<>();
    Set<String> replicas = new HashSet<>();
    long epoch = 0;
    for (String line : text.lines().toList()) {
      String[] words = line.trim().split(" ", 0);
      if (words.length <= EPOCH_COLUMN || words[FLAGS_COLUMN].contains("handshake")) {
        continue;
      }
      all.add(words[0]);
      if (words[FLAGS_COLUMN].contains("slave")) {
        replicas.add(words[0]);
      }
      try {
        epoch = Math.max(epoch, Long.parseLong(words[EPOCH_COLUMN]));
      } catch (NumberFormatException e) {
        return Roles.UNKNOWN;
      }
    }
    return new Roles(all, replicas, epoch);
  }
}
