package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.testkit.RedisNodes;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs tests of locks as the user with the least permissions. */
@Tag("thorough")
class LeastUserIT {

  @Nested
  @LeastUser.Masters
  class Leases extends LeaseIT {
    Leases(RedisNodes nodes) {
      super(nodes);
    }

    /** Otherwise these tests would only repeat the others. */
    @Test
    void clients_areThatUser(RedisNodes nodes) {
      assertThat(String.valueOf(nodes.get(0).command("CLIENT", "LIST"))).contains("user=app");
    }
  }

  @Nested
  @LeastUser.Masters
  class Quorums extends QuorumIT {
    Quorums(RedisNodes nodes) {
      super(nodes);
    }
  }

  @Nested
  @LeastUser.Masters
  class OwnKeys extends OwnKeyIT {
    OwnKeys(RedisNodes nodes) {
      super(nodes);
    }
  }

  @Nested
  @LeastUser.Masters
  class ReentrantLocks extends ReentrantLockIT {
    ReentrantLocks(RedisNodes nodes) {
      super(nodes);
    }
  }
}
