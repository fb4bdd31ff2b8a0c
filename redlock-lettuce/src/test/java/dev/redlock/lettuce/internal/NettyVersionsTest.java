package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Version;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NettyVersionsTest {
  @Test
  void jarsOfOneVersion_areNoFinding_whateverTheVersionOfTheNativeParts() {
    assertThat(
            NettyVersions.mixed(
                Map.of(
                    "netty-common", "4.2.19.Final",
                    "netty-handler", "4.2.19.Final",
                    "netty-tcnative-classes", "2.0.78.Final")))
        .isEmpty();
  }

  @Test
  void jarsOfTwoVersions_areNamed() {
    assertThat(
            NettyVersions.mixed(
                Map.of("netty-common", "4.2.13.Final", "netty-resolver", "4.2.16.Final")))
        .isEqualTo("{4.2.13.Final=[netty-common], 4.2.16.Final=[netty-resolver]}");
  }

  @Test
  void thisBuild_hasOneVersion_andIsReadAsNettyReadsIt() {
    Map<String, String> netty = new TreeMap<>();
    Version.identify(NettyVersions.class.getClassLoader())
        .forEach((jar, version) -> netty.put(jar, version.artifactVersion()));

    assertThat(NettyVersions.onClassPath()).isEqualTo(netty).containsKey("netty-common");
    assertThat(NettyVersions.mixed(netty)).isEmpty();
  }
}
