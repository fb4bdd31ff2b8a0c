package dev.redlock.cluster.internal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.cluster.internal.Topology.Roles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TopologyTest {
  private static final Address ASKED = new Address("10.0.0.9", 7009);

  /** One range of the reply to CLUSTER SLOTS. */
  private static List<Object> range(long first, long last, Object... servers) {
    List<Object> range = new ArrayList<>(List.of(first, last));
    range.addAll(Arrays.asList(servers));
    return range;
  }

  private static List<@Nullable Object> server(
      @Nullable String endpoint, long port, String id, String... others) {
    List<@Nullable Object> words = new ArrayList<>();
    words.add(endpoint == null ? null : endpoint.getBytes(UTF_8));
    words.add(port);
    words.add(id.getBytes(UTF_8));
    words.add(Arrays.stream(others).map(word -> (Object) word.getBytes(UTF_8)).toList());
    return words;
  }

  private static Topology of(Roles roles, List<?>... ranges) {
    return TopologyReader.read(List.of(ranges), roles, ASKED);
  }

  private static Roles roles(long epoch, String... replicas) {
    return new Roles(Set.of("a", "b", "c"), Set.of(replicas), epoch);
  }

  private static List<Address> endpoints(Topology topology) {
    return topology.masters().iterator().next().endpoints();
  }

  @Test
  void replica_seenAsMasterWithoutSlotsBeforeItHasThem_isKnownToHaveBeenOne() {
    Topology before = of(roles(1, "b"), range(7, 7, server("h", 1, "a"), server("h", 2, "b")));
    Topology between = of(roles(1), range(7, 7, server("h", 1, "a")));
    Topology promoted = of(roles(2, "a"), range(7, 7, server("h", 2, "b")));

    Topology known = between.after(before);
    assertThat(known.isReplica("b")).as("when it is promoted").isTrue();

    known = promoted.after(known);
    assertThat(known.isReplica("b")).as("once it serves").isFalse();
    assertThat(known.isReplica("a")).isTrue();
  }

  @Test
  void replica_leftOutOfOneView_isKnownToHaveBeenOne() {
    Topology before = of(roles(1, "b"), range(7, 7, server("h", 1, "a")));

    assertThat(of(roles(1), range(7, 7, server("h", 1, "a"))).after(before).isReplica("b"))
        .isTrue();
  }

  @Test
  void endpoints_beginWithThePreferredOne_andOmitWhatTheServerDoesNotKnow() {
    assertThat(endpoints(of(roles(1), range(0, 1, server("m.example", 1, "a", "ip", "10.0.0.1")))))
        .containsExactly(new Address("m.example", 1), new Address("10.0.0.1", 1));
    assertThat(endpoints(of(roles(1), range(0, 1, server("10.0.0.1", 1, "a", "hostname", "")))))
        .containsExactly(new Address("10.0.0.1", 1));
    assertThat(endpoints(of(roles(1), range(0, 1, server(null, 1, "a", "ip", "10.0.0.1")))))
        .containsExactly(new Address("10.0.0.9", 1), new Address("10.0.0.1", 1));
    assertThat(endpoints(of(roles(1), range(0, 1, server("?", 1, "a")))))
        .containsExactly(new Address("10.0.0.9", 1));
    assertThat(endpoints(of(roles(1), range(0, 1, server("::1", 1, "a")))))
        .containsExactly(new Address("::1", 1));
  }

  @Test
  void server_withAnotherName_isTheSameServer() {
    Topology named = of(roles(1), range(0, 9, server("m.example", 1, "a", "ip", "10.0.0.1")));
    Topology bare = of(roles(1), range(0, 9, server("10.0.0.1", 1, "a")));

    assertThat(named.serves(bare)).isTrue();
    assertThat(named.serverAt(new Address("10.0.0.1", 1)).nodeId()).isEqualTo("a");
    assertThat(bare.serves(of(roles(1), range(0, 9, server("10.0.0.1", 1, "b"))))).isFalse();
    assertThat(bare.serves(of(roles(1), range(0, 8, server("10.0.0.1", 1, "a"))))).isFalse();
  }

  @Test
  void serverThatARedirectionNames_isKnownByItsEndpoint_orByItsAddressOnly() {
    Topology topology =
        of(roles(1, "b"), range(0, 9, server("h", 1, "a"), server("h", 2, "b", "ip", "10.0.0.2")));

    assertThat(topology.serverAt(new Address("10.0.0.2", 2)).key()).isEqualTo("b");
    assertThat(topology.serverAt(new Address("h", 3)).key()).isEqualTo("@h:3");
    assertThat(topology.with(4, topology.serverAt(new Address("h", 2))).owner(4).nodeId())
        .isEqualTo("b");
  }

  @Test
  void view_withALowerEpoch_isOlder_exceptOfAClusterThatWasMadeAnew() {
    Topology known = of(roles(7), range(0, 9, server("h", 1, "a")));

    assertThat(of(roles(6), range(0, 9, server("h", 1, "a"))).isOlderThan(known)).isTrue();
    assertThat(of(roles(7), range(0, 9, server("h", 1, "a"))).isOlderThan(known)).isFalse();
    assertThat(of(Roles.UNKNOWN, range(0, 9, server("h", 1, "a"))).isOlderThan(known)).isFalse();
    assertThat(of(roles(3), range(0, 9, server("h", 1, "z"))).isOlderThan(known)).isFalse();
  }

  @Test
  void nodes_tellRolesAndEpoch_alsoOfFailedNodes() {
    Roles roles =
        TopologyReader.roles(
            """
            c1 10.0.0.1:7001@17001,m.example myself,master - 0 0 3 connected 0-9
            a2 10.0.0.2:7002@17002 slave,fail c1 1 2 9 disconnected
            b3 :0@0 master,noaddr - 0 0 12 disconnected
            d4 10.0.0.4:7004@17004 handshake - 0 0 99 connected
            """);
    assertThat(roles).isEqualTo(new Roles(Set.of("c1", "a2", "b3"), Set.of("a2"), 12));
    assertThat(of(roles, range(0, 9, server("h", 1, "c1"))).clusterId()).isEqualTo("a2");
    assertThat(TopologyReader.roles("not a topology")).isEqualTo(Roles.UNKNOWN);
  }

  @Test
  void replyThatNoClusterGives_isAnError() {
    assertThatThrownBy(() -> of(roles(1))).hasMessageContaining("no server of the cluster has");
    assertThatThrownBy(() -> of(roles(1), range(5, 16384, server("h", 1, "a"))))
        .hasMessageContaining("5-16384");
    assertThatThrownBy(() -> of(roles(1), range(0, 5))).isInstanceOf(RuntimeException.class);
    assertThatThrownBy(() -> of(roles(1), List.of("x"))).isInstanceOf(RuntimeException.class);
  }
}
