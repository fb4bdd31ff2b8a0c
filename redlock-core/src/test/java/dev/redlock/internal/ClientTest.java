package dev.redlock.internal;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Redlock;
import dev.redlock.internal.IndependenceCheckTest.Named;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import org.junit.jupiter.api.Test;

class ClientTest {
  @Test
  void operations_withoutTheirModule_areWhatTheClientKnows_andTheRestNamesTheModule() {
    try (Redlock redlock = Redlock.builder().nodes(new Named("a")).build()) {
      Operations operations = redlock.operations();
      assertThat(operations.nodes()).extracting(NodeState::node).containsExactly("a");
      assertThat(operations.ready().toCompletableFuture()).succeedsWithin(20, SECONDS);
      assertThat(operations.unwrap(Redlock.class)).isSameAs(redlock);
      assertThatThrownBy(() -> operations.list("*"))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("add dev.redlock:redlock-operations to the class path");
    }
  }
}
