package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.cluster.internal.Redirection.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedirectionTest {
  private static final Address FROM = new Address("10.0.0.1", 7001);

  @ParameterizedTest
  @CsvSource({
    "MOVED 3999 10.0.0.2:7002, MOVED, 10.0.0.2, 7002",
    "ASK 1 10.0.0.3:7003, ASK, 10.0.0.3, 7003",
    "MOVED 1 :7004, MOVED, 10.0.0.1, 7004",
    "MOVED 1 ?:7004, MOVED, 10.0.0.1, 7004",
    "MOVED 1 redis-2.example:7005, MOVED, redis-2.example, 7005",
    "MOVED 1 2001:db8::1:7006, MOVED, 2001:db8::1, 7006",
  })
  void redirection_namesKindAndAddress(String message, Kind kind, String host, int port) {
    assertThat(Redirection.of(message, FROM))
        .isEqualTo(new Redirection(kind, new Address(host, port)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"CLUSTERDOWN The cluster is down", "CLUSTERDOWN Hash slot not served"})
  void temporaryError_isRetriedLater(String message) {
    assertThat(Redirection.of(message, FROM).kind()).isEqualTo(Kind.LATER);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "Script attempted to access a non local key in a cluster node",
        "ERR Script attempted to access a non local key in a cluster node script: 1f, on @user_script:3."
      })
  void keysOnTwoMasters_areUsedOneByOne(String message) {
    assertThat(Redirection.of(message, FROM).kind()).isEqualTo(Kind.SPLIT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CROSSSLOT Keys in request don't hash to the same slot",
        "MOVED",
        "MOVED 1",
        "MOVED 1 nowhere",
        "ASK 1 host:port",
        "MOVED 1 host:65536",
        "MOVED 1 host:99999999999",
        "MOVED 1 host:-1",
        "ASK 1 host:0",
        "MOVED 1 :"
      })
  void otherError_isTheReply(String message) {
    assertThat(Redirection.of(message, FROM).kind()).isEqualTo(Kind.NEVER);
  }

  @Test
  void address_toString_isHostColonPort() {
    assertThat(FROM).hasToString("10.0.0.1:7001");
  }
}
