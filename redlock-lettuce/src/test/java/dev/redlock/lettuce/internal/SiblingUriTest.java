package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SiblingUriTest {
  private static final NodeUri OWN =
      NodeUri.parse("rediss://app:sec%40ret@one:7001/3?clientName=orders&verifyPeer=CA");

  @ParameterizedTest
  @CsvSource({
    "two:7002, two, 7002, 0",
    "Two, two, 6379, 0",
    "10.0.0.2:7002, 10.0.0.2, 7002, 0",
    "[::1]:7002, [::1], 7002, 0",
    "two:7002/5, two, 7002, 5",
    "two:7002/0, two, 7002, 0",
    "redis://two:7002, two, 7002, 0",
    "redis://other:pass@two:7002/0, two, 7002, 0",
    "rediss://two:7002?database=0&clientName=x, two, 7002, 0",
    "redis://two:7002?database=4, two, 7002, 4"
  })
  void addressAndDatabaseAreThoseOfTheName_allElseIsThatOfTheNode(
      String name, String host, int port, int database) {
    NodeUri made = OWN.sibling(name);
    RedisURI uri = made.toRedisUri();
    assertThat(made.name()).isEqualTo(host + ":" + port + (database == 0 ? "" : "/" + database));
    assertThat(uri.getHost()).isEqualToIgnoringCase(host);
    assertThat(uri.getPort()).isEqualTo(port);
    assertThat(uri.getDatabase()).isEqualTo(database);
    assertThat(uri.isSsl()).isTrue();
    assertThat(uri.getVerifyMode()).isEqualTo(OWN.toRedisUri().getVerifyMode());
    assertThat(uri.getClientName()).isEqualTo("orders");
    var login = uri.getCredentialsProvider().resolveCredentials().block();
    assertThat(login).isNotNull();
    assertThat(login.getUsername()).isEqualTo("app");
    assertThat(login.getPassword()).containsExactly("sec@ret".toCharArray());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://one:7001",
        "redis://[::1]:7001",
        "redis://one",
        "redis://one/2",
        "redis://10.0.0.1",
        "redis-socket:///tmp/one.sock"
      })
  void name_leadsToTheSameServer(String uri) {
    NodeUri node = NodeUri.parse(uri);
    NodeUri again = node.sibling(node.name());
    assertThat(again.name()).isEqualTo(node.name());
    assertThat(again.toRedisUri()).isEqualTo(node.toRedisUri());
    assertThat(OWN.sibling(node.name()).name()).isEqualTo(node.name());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "two:0", "two:70000", "two words:1", "two:7002?timeout=1s", ":7002"})
  void nameThatIsNoAddress_isRejected(String name) {
    assertThatThrownBy(() -> OWN.sibling(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("node name '")
        .hasMessageContaining("is no address");
  }

  @Test
  void nameWithCredentials_isRejected_andTheMessageHidesThem() {
    assertThatThrownBy(() -> OWN.sibling("app:secret@two:7002"))
        .hasMessageContaining("two:7002")
        .hasMessageNotContaining("secret");
  }
}
