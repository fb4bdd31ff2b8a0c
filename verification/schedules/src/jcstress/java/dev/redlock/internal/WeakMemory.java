package dev.redlock.internal;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.redlock.LeaseEnd;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** What threads share without a lock around it, under the memory model of the machine. */
public final class WeakMemory {
  private WeakMemory() {}

  /** The thread that handles an event sees what the handlers before it wrote to plain fields. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "each event saw the one before")
  @Outcome(expect = FORBIDDEN, desc = "an event is lost, or did not see another")
  @State
  public static class Inbox {
    private final LockActor queue = SharedClient.actor();
    private int handled;

    private void post() {
      queue.post((machine, now, wall) -> handled++);
    }

    @Actor
    public void one() {
      post();
    }

    @Actor
    public void two() {
      post();
    }

    @Arbiter
    public void result(I_Result r) {
      r.r1 = handled;
    }
  }

  /** Whoever knows that the holder has asked for the release does not take the lease for valid. */
  @JCStressTest
  @Outcome(id = "true, true", expect = FORBIDDEN, desc = "valid after its release")
  @Outcome(expect = ACCEPTABLE, desc = "before the release, or not valid")
  @State
  public static class Validity {
    private final LeaseCore lease = SharedClient.lease();
    private volatile boolean released;

    @Actor
    public void holder() {
      var unused = lease.release();
      released = true;
    }

    @Actor
    public void user(ZZ_Result r) {
      r.r1 = released;
      r.r2 = lease.remainingNanos() > 0;
    }
  }

  /** A taker that comes while the lease ends is told once. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "told")
  @Outcome(expect = FORBIDDEN, desc = "not told, or twice")
  @State
  public static class End {
    private final LeaseCore lease = SharedClient.lease();
    private int told;

    private void told(LeaseEnd end) {
      told++;
    }

    @Actor
    public void holder() {
      var unused = lease.release();
    }

    @Actor
    public void taker() {
      lease.onEnd(this::told);
    }

    @Arbiter
    public void result(I_Result r) {
      r.r1 = told;
    }
  }

  /** Two that release have one result, and one that waits for it sees it. */
  @JCStressTest
  @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "one result, and it is there")
  @Outcome(expect = FORBIDDEN, desc = "two results, or none")
  @State
  public static class Ack {
    private final LeaseCore lease = SharedClient.lease();
    private PendingAck first;
    private PendingAck second;

    @Actor
    public void one() {
      first = lease.release();
    }

    @Actor
    public void two() {
      second = lease.release();
    }

    @Arbiter
    public void result(ZZ_Result r) {
      r.r1 = first == second && first.future() == second.future();
      r.r2 = first.result.isDone();
    }
  }

  /** A listener is told of each event, and sees what it did for the event before. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "each event saw the one before")
  @Outcome(expect = FORBIDDEN, desc = "an event is lost, or did not see another")
  @State
  public static class Events {
    private final ListenerQueue queue = SharedClient.events();
    private int told;

    @Actor
    public void one() {
      queue.add(listener -> told++);
    }

    @Actor
    public void two() {
      queue.add(listener -> told++);
    }

    @Arbiter
    public void result(I_Result r) {
      r.r1 = told;
    }
  }
}
