package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.spi.LockNode;
import io.lettuce.core.RedisURI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodeUriTest {

  @ParameterizedTest
  @CsvSource({
    "redis://10.0.0.1, 10.0.0.1:6379",
    "redis://Host.Example:7000, host.example:7000",
    "redis://:secret@10.0.0.1:7000/3, 10.0.0.1:7000/3",
    "redis://app:secret@10.0.0.1:7000, 10.0.0.1:7000",
    "rediss://app:secret@host, host:6379",
    "redis://app:sec%40ret@[::1]:7000, [::1]:7000",
    "redis://::1, [::1]:6379",
    "redis://my_host:7000/1, my_host:7000/1",
    "redis://host?clientName=app&verifyPeer=NONE&db=3, host:6379/3",
    "redis-socket:///run/redis.sock?database=1, /run/redis.sock"
  })
  void name_isHostPortAndDatabase_withoutCredentials(String uri, String name) {
    assertThat(NodeUri.parse(uri).name()).isEqualTo(name);
    assertThat(NodeUri.parse(uri).toString()).isEqualTo(name);
  }

  @Test
  void name_ofWhatAClusterReports_isLikeThatOfTheSameUri() {
    RedisURI reported = RedisURI.create("::1", 7000);
    assertThat(NodeUri.of(reported).name()).isEqualTo("[::1]:7000");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://app:secret@host",
        "redis://app:secret@",
        "redis://app:sec ret@host:1",
        "redis://app:secret@host:99999999",
        "redis://app:secret@host:port",
        "redis://app:sec/ret@host:port",
        "app:secret@host:6379",
        "redis-sentinel://app:secret@host:26379#mymaster",
        "secret@",
        "redis://:sec",
        "redis://:sec#ret@host",
        "redis://:sec?ret@host",
        "redis://:sec/ret@host:6379",
        "redis://app?sec=ret",
        "redis://app/sec",
        "redis://:sec%40ret",
        "redis://:%sec@host",
        "redis://x,sec",
        "sec#ret",
        ""
      })
  void unreadable_isRefused_withoutThePassword(String uri) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NodeUri.parse(uri))
        .satisfies(
            e -> {
              assertThat(e.getMessage()).doesNotContain("secret").doesNotContain("sec");
              assertThat(e.getCause()).isNull();
            });
  }

  @ParameterizedTest
  @CsvSource({
    "redis://app:secret@host:1, redis://***@host:1",
    "redis://:secret@host, redis://***@host",
    "redis://a:b@c@host, redis://***@host",
    "redis://:sec#r@et@host:1, redis://***@host:1",
    "redis://host:1, redis://host:1",
    "redis://host:1?foo=bar, redis://host:1?***",
    "redis://:secret, redis://***",
    "redis://host:port, redis://***",
    "app:secret@host, ***@host",
    "host, host"
  })
  void mask_hidesWhatPrecedesTheHost(String uri, String masked) {
    assertThat(NodeUri.mask(uri)).isEqualTo(masked);
  }

  @ParameterizedTest
  @CsvSource({
    "redis://:pa#ss@host, in a password write % as %25",
    "redis://:pa?ss@host, in a password write % as %25",
    "redis://:pa, in a password write % as %25",
    "redis://host?foo=bar, an unknown parameter: known are database",
    "redis://host?foo, a parameter without name or value",
    "redis-socket:///run/redis.sock?foo=bar, an unknown parameter: known are database",
    "redis://host?timeout=3s, set the connect timeout in the options",
    "redis://host?db=x, a database that is no number",
    "redis://[::1%lo], an IPv6 zone",
    "redis://[fe80::1%25eth0]:7000, an IPv6 zone",
    "redis://1:2:3, no valid IPv6 address",
    "redis://host:0, not between 1 and 65535",
    "redis://host:70000, expected redis://host:port",
    "redis://my_host:70000, not between 1 and 65535",
    "redis://host#1, no host with an optional port number",
    "redis://x:1:y:2, no host with an optional port number"
  })
  void whatLettuceWouldIgnore_isRefusedInWords(String uri, String reason) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NodeUri.parse(uri))
        .withMessageContaining(reason);
  }

  @Test
  void verification_isOnUnlessSwitchedOff() {
    assertThat(NodeUri.parse("rediss://host").weakness()).isEmpty();
    assertThat(NodeUri.parse("redis://host").weakness()).isEmpty();
    assertThat(NodeUri.parse("rediss://host?verifyPeer=NONE").weakness())
        .isEqualTo("the client does not verify the server's certificate; any server may answer");
  }

  @Test
  void verificationOfTheHost_isOnUnlessOnlyTheAuthorityCounts() {
    assertThat(NodeUri.parse("redis://host?verifyPeer=CA").weakness()).isEmpty();
    assertThat(NodeUri.parse("rediss://host?verifyPeer=CA").weakness())
        .startsWith("the client verifies the server's certificate, but not its host name");
  }

  @Test
  void library_isAnnouncedOnlyIfGiven() {
    RedisURI silent = NodeUri.parse("redis://libraryName=@redis-1").toRedisUri();
    assertThat(silent.getLibraryName()).isEmpty();
    assertThat(silent.getLibraryVersion()).isEmpty();
    RedisURI given =
        NodeUri.parse("redis://redis-1?libraryName=shop&libraryVersion=2").toRedisUri();
    assertThat(given.getLibraryName()).isEqualTo("shop");
    assertThat(given.getLibraryVersion()).isEqualTo("2");
  }

  @Test
  void sameServerTwice_isRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                LettuceNodes.standalone(
                    List.of("redis://a:secret@h", "redis://other", "redis://H:6379/2")))
        .withMessageContaining("h:6379")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
  }

  @Test
  void nodesAreNamed_andNothingIsConnectedYet() {
    List<LockNode> nodes = LettuceNodes.standalone(List.of("redis://a", "redis://b:1"));
    assertThat(nodes).extracting(LockNode::name).containsExactly("a:6379", "b:1");
    nodes.forEach(LockNode::close);
  }
}
