package dev.redlock.it.contract;

import org.junit.jupiter.api.Nested;

/** All that holds for every kind of node. */
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
  class InLine extends LineContract {
    @Override
    NodeUnderTest server() {
      return WholeContract.this.server();
    }
  }

  @Nested
  class Pushes extends PushContract {
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
