package dev.redlock.it.contract;

import org.junit.jupiter.api.Nested;

/** The whole contract of every kind of node. */
abstract class WholeContract {
  /** The server, running. */
  abstract NodeUnderTest server();

  @Nested
  class Acquire extends AcquireContract {
    @Override
    NodeUnderTest server() {
      return WholeContract.this.server();
    }
  }

  @Nested
  class ExtendRelease extends ExtendReleaseContract {
    @Override
    NodeUnderTest server() {
      return WholeContract.this.server();
    }
  }

  @Nested
  class Queue extends QueueContract {
    @Override
    NodeUnderTest server() {
      return WholeContract.this.server();
    }
  }

  @Nested
  class Invalidations extends InvalidationContract {
    @Override
    NodeUnderTest server() {
      return WholeContract.this.server();
    }
  }

  @Nested
  class Connection extends ConnectionContract {
    @Override
    NodeUnderTest server() {
      return WholeContract.this.server();
    }
  }
}
