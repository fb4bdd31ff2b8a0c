package dev.redlock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A fence with fields of a later version, under the script of a slot that moves. {@link
 * ModelEqualsScriptsIT} covers the other scripts.
 */
@RedisTest(nodes = 1)
class FurtherFieldsIT {
  private static final String KEY = "redlock:{further}:fence";

  private final RedisNode server;

  FurtherFieldsIT(RedisNodes nodes) {
    server = nodes.get(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":7", ":a:b:", ":"})
  void everyStepThatWritesTheFence_keepsTheFields(String further) {
    long token = now();
    put(token + ":0:1" + further);
    assertThat(code("raise", token + 1, "0", "0")).isEqualTo(1);
    assertThat(stored()).isEqualTo((token + 1) + ":0:1" + further);
    assertThat(code("extend", token + 2)).isEqualTo(5);
    assertThat(stored()).isEqualTo((token + 2) + ":0:1" + further);
    assertThat(code("release", token + 3, "1")).isEqualTo(8);
    assertThat(stored()).isEqualTo((token + 3) + ":" + (token + 3) + ":1" + further);
    assertThat(code("break", token + 4)).isEqualTo(8);
    assertThat(stored()).isEqualTo((token + 4) + ":" + (token + 4) + ":1" + further);
  }

  @Test
  void otherText_isForeign() {
    for (String foreign : List.of("1:2", "1:2:2", "1:2:1x", "1:2:11", "1:2:1:\n", "1:2:1:ä", "")) {
      put(foreign);
      assertThat(code("release", now(), "1")).as(foreign).isEqualTo(10);
    }
  }

  private void put(String value) {
    server.command("SET", KEY, value, "PX", "60000");
  }

  private Object stored() {
    return server.command("GET", KEY);
  }

  private long code(String step, long token, String... more) {
    List<String> words =
        new ArrayList<>(
            List.of("EVAL", new String(Script.FENCE_KEY.text(), UTF_8), "1", KEY, step));
    words.addAll(List.of(Long.toString(token), "60000"));
    words.addAll(List.of(more));
    return (Long) ((List<?>) server.command(words.toArray(String[]::new))).get(0);
  }

  private long now() {
    List<?> time = (List<?>) server.command("TIME");
    return Long.parseLong(time.get(0).toString()) * 1_000_000
        + Long.parseLong(time.get(1).toString());
  }
}
