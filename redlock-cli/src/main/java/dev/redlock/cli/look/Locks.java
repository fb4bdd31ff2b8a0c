package dev.redlock.cli.look;

import dev.redlock.AcquireReport;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.Operations;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/** Reads the locks that are held. */
public final class Locks {
  private Locks() {}

  /** Gives each lock to the taker, as the pages arrive. */
  static void each(Operations operations, String pattern, Consumer<LockListing.Entry> taker) {
    try (LockListing listing = operations.list(pattern)) {
      List<LockListing.Entry> page = Look.answer(listing.next());
      while (!page.isEmpty()) {
        page.forEach(taker);
        page = Look.answer(listing.next());
      }
    } catch (QuorumUnavailableException e) {
      throw Look.tooFew("locks not listed: " + unread(e.report()));
    }
  }

  private static String unread(AcquireReport report) {
    List<AcquireReport.NodeVote> errors =
        report.votes().stream().filter(vote -> vote.error() != null).toList();
    int nodes = report.votes().size();
    return "%d of %d nodes can be read, %d are needed"
            .formatted(nodes - errors.size(), nodes, report.quorum())
        + "; "
        + Look.together(errors, AcquireReport.NodeVote::node, vote -> "(" + vote.error() + ")");
  }

  /** All locks whose names match, sorted by name. */
  public static List<LockListing.Entry> all(Operations operations, String pattern) {
    List<LockListing.Entry> found = new ArrayList<>();
    each(operations, pattern, found::add);
    found.sort(Comparator.comparing(LockListing.Entry::name));
    return found;
  }

  /** The pattern that matches this name alone. */
  static String quoted(String name) {
    return name.replaceAll("[*?\\\\]", "\\\\$0");
  }

  /** How many processes wait: the longest queue, because an arrival may be in several queues. */
  public static int waiting(LockListing.Entry lock) {
    return lock.waiting().values().stream().mapToInt(Integer::intValue).max().orElse(0);
  }

  static Json json(LockListing.Entry lock) {
    return new Json()
        .put("name", lock.name())
        .put("lease", lock.holder())
        .put("label", lock.holderLabel())
        .putMillis("remaining", lock.remaining())
        .put("highestToken", lock.highestTokenSeen())
        .put("storedBy", lock.storedBy())
        .put("waiting", waiting(lock));
  }

  static Table table(List<LockListing.Entry> locks) {
    Table table = new Table("NAME", "LABEL", "REMAINING", "WAITING", "STORED BY", "LEASE");
    for (LockListing.Entry l : locks) {
      table.row(l.name(), l.holderLabel(), l.remaining(), waiting(l), l.storedBy(), l.holder());
    }
    return table;
  }
}
