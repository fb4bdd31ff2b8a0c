package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.cluster.internal.Topology.Range;
import dev.redlock.cluster.internal.Topology.Roles;
import dev.redlock.cluster.internal.Topology.Server;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What other threads see while a topology is adopted. No server listens. */
@Timeout(60)
class MasterLinksTest {
  private static final Server A = new Server("a", List.of(new Address("127.0.0.1", 1)));
  private static final Server B = new Server("b", List.of(new Address("127.0.0.1", 2)));
  private static final int SLOT = 7;

  private final TestTime time = new TestTime();
  private final MasterLinks links =
      new MasterLinks(
          new Seeds(List.of(NodeUri.parse("redis://127.0.0.1:1"))),
          LettuceOptions.defaults(),
          new SharedResources(null),
          new LockNode.Context(
              Duration.ofSeconds(2), RestartGuard.UPTIME, "redlock", "", false, time, new Deaf()),
          Duration.ofSeconds(4));

  @AfterEach
  void close() {
    List<MasterLink> all = links.close();
    if (all != null) {
      all.forEach(MasterLink::close);
    }
  }

  private static Topology servedBy(Server master, long epoch, String... replicas) {
    return Topology.of(
        List.of(new Range(0, Slots.COUNT - 1, master)),
        List.of(),
        new Roles(Set.of("a", "b"), Set.of(replicas), epoch));
  }

  /** The cluster does not list a replica that failed; a redirection names it by its address. */
  @Test
  void adopt_promotedReplicaThatARedirectionNamed_isFoundOnlyOnceItIsKeptFromGranting() {
    links.adopt(servedBy(A, 1, "b"), 0, null);
    MasterLink promoted = links.linkTo(B.endpoints().get(0));
    boolean[] foundUnguarded = {false};
    time.onRead =
        () ->
            foundUnguarded[0] |=
                links.linkOf(SLOT) == promoted && promoted.barredForNanos(time.now) == 0;

    links.adopt(servedBy(B, 2, "a"), time.now, null);

    assertThat(links.linkOf(SLOT)).isSameAs(promoted);
    assertThat(promoted.barredForNanos(time.now)).isEqualTo(TimeUnit.SECONDS.toNanos(4));
    assertThat(foundUnguarded[0]).isFalse();
  }

  /** A replica that failed is not listed, and after it is promoted only a redirection names it. */
  @Test
  void moved_toAnAddressOfNoKnownServer_isKeptFromGrantingUntilItIsIdentified() {
    links.adopt(servedBy(A, 1), 0, null);

    links.moved(SLOT, B.endpoints().get(0));
    MasterLink named = links.linkOf(SLOT);
    assertThat(named).isNotNull();
    assertThat(named.barredForNanos(time.now)).isEqualTo(TimeUnit.SECONDS.toNanos(4));

    links.adopt(servedBy(B, 2), time.now, null);
    assertThat(links.linkOf(SLOT)).isSameAs(named);
    assertThat(named.barredForNanos(time.now)).as("a new master, no replica").isZero();
  }

  @Test
  void moved_toAnAddressOfAReplicaThatWasNotListed_isKeptFromGrantingWhenItIsIdentified() {
    links.adopt(servedBy(A, 1, "b"), 0, null);
    links.moved(SLOT, B.endpoints().get(0));
    time.now = 1 + TimeUnit.SECONDS.toNanos(1);

    links.adopt(servedBy(B, 2, "a"), time.now, null);

    assertThat(links.linkOf(SLOT).barredForNanos(time.now)).isEqualTo(TimeUnit.SECONDS.toNanos(4));
  }

  /** A server that may not run CLUSTER NODES reports neither epochs nor all replicas. */
  @Test
  void promotedMaster_thatOneTopologyDoesNotName_isStillKeptFromGrantingWhenItComesBack() {
    links.adopt(servedBy(A, 1, "b"), 0, null);
    links.adopt(servedBy(B, 2, "a"), 1, null);
    time.now = 1 + TimeUnit.SECONDS.toNanos(1);
    MasterLinks.Change change = links.adopt(servedBy(A, 0), time.now, null);
    change.gone().forEach(MasterLink::close);

    links.adopt(servedBy(B, 0), time.now, null);

    assertThat(links.linkOf(SLOT).barredForNanos(time.now)).isEqualTo(TimeUnit.SECONDS.toNanos(3));
  }

  /** Without the fix an event of the link, such as a drop, is ignored, and older votes count. */
  @Test
  void link_whoseKeyIsBeingChanged_isIncluded() throws Exception {
    links.adopt(servedBy(A, 1), 0, null);
    MasterLink link = links.linkOf(SLOT);
    assertThat(link).isNotNull();
    assertThat(whileAbsent(() -> links.include(link))).isEqualTo(true);
  }

  @Test
  void link_whoseKeyIsBeingChanged_isAmongThoseThatServe() throws Exception {
    links.adopt(servedBy(A, 1), 0, null);
    MasterLink link = links.linkOf(SLOT);
    assertThat(link).isNotNull();
    assertThat(whileAbsent(() -> links.existing(SLOT, SLOT))).isEqualTo(List.of(link));
  }

  /** What another thread reads that begins to read in the middle of a change. */
  private @Nullable Object whileAbsent(Supplier<Object> reading) throws Exception {
    Field field = MasterLinks.class.getDeclaredField("links");
    field.setAccessible(true);
    @SuppressWarnings("unchecked")
    Map<String, MasterLink> map = (Map<String, MasterLink>) field.get(links);
    AtomicReference<@Nullable Object> read = new AtomicReference<>();
    Thread reader = new Thread(() -> read.set(reading.get()));
    synchronized (links) {
      MasterLink link = map.remove("a");
      reader.start();
      while (reader.getState() != Thread.State.BLOCKED && reader.isAlive()) {
        Thread.onSpinWait();
      }
      map.put("a", link);
    }
    reader.join();
    return read.get();
  }

  private static final class TestTime implements Time {
    private volatile long now = 1;

    /** Runs when the time is read, but not within itself. */
    private volatile @Nullable Runnable onRead;

    @Override
    public long nanos() {
      Runnable task = onRead;
      if (task != null) {
        onRead = null;
        task.run();
        onRead = task;
      }
      return now;
    }

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      return () -> {};
    }
  }

  private static final class Deaf implements LockNode.Listener {
    @Override
    public void onStatus(LockNode node) {}

    @Override
    public void onInvalidated(LockNode node, String key) {}

    @Override
    public void onAllInvalidated(LockNode node) {}
  }
}
