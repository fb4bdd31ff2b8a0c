package dev.redlock.internal;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.ReleaseHints;
import java.util.List;
import java.util.function.Consumer;

/** The configured carriers of release hints. What one throws affects no other, and no caller. */
record HintCarriers(List<ReleaseHints> carriers, FailureLog failures) {

  HintCarriers {
    carriers = List.copyOf(carriers);
  }

  /** Unlike the other methods, this one throws what a carrier throws: the client is not built. */
  void start(ReleaseHints.Receiver receiver) {
    carriers.forEach(carrier -> carrier.start(receiver));
  }

  boolean isEmpty() {
    return carriers.isEmpty();
  }

  void waiting(LockKeys keys, boolean waits) {
    for (String name : carriers.isEmpty() ? List.<String>of() : keys.names()) {
      if (waits) {
        call("waiting", carrier -> carrier.waiting(name));
      } else {
        call("idle", carrier -> carrier.idle(name));
      }
    }
  }

  void refused(LockKeys keys, boolean notified) {
    for (String name : keys.names()) {
      call("refused", carrier -> carrier.refused(name, notified));
    }
  }

  void ended(ReleaseHints.Ended ended) {
    call("ended", carrier -> carrier.ended(ended));
  }

  void close() {
    call("close", ReleaseHints::close);
  }

  boolean areEnded() {
    return carriers.stream().allMatch(ReleaseHints::isEnded);
  }

  private void call(String method, Consumer<ReleaseHints> call) {
    for (ReleaseHints carrier : carriers) {
      try {
        call.accept(carrier);
      } catch (Throwable e) {
        failures.report(method + " of " + carrier.getClass().getName(), e);
      }
    }
  }
}
