package dev.redlock.internal.sets;

import static java.util.stream.Collectors.joining;

import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Why nodes must not vote although their connections are well.
 *
 * @param current the set that the client works with
 * @param maxLeaseMillis the longest lease time of this client
 */
public record Objections(NodeRecord current, Members members, long maxLeaseMillis) {
  private static final String SILENT = " does not answer";
  private static final String REMEDY =
      ". Correct the list, or give up what a node says: redlock nodes forget NODE";

  /** Whether it may end without an operator: a node that does not answer yet decides. */
  public static boolean isPassing(String objection) {
    return objection.contains(SILENT);
  }

  /** Whether it is the cause of a server that rejects this client, or of this client that does. */
  public static boolean isRejection(String cause) {
    return cause.startsWith(NodeError.Kind.NOT_AUTHENTICATED + ":")
        || cause.startsWith(NodeError.Kind.NO_PERMISSION + ":")
        || cause.contains("TLS:");
  }

  /** The same objection to each node that keeps records. */
  static List<@Nullable String> toAll(List<Seen> nodes, String why) {
    return nodes.stream().<@Nullable String>map(node -> node.keepsRecord() ? why : null).toList();
  }

  /**
   * Why the client has chosen no deployment: what each configured node shows.
   *
   * @param hidden one that has shown a record, and is not reached any more
   */
  static String undecided(
      List<Seen> nodes, List<String> aliases, int seeds, Optional<Seen> hidden) {
    String unfit = Founding.objection(nodes.subList(0, seeds), aliases.subList(0, seeds));
    if (nodes.stream().limit(seeds).allMatch(node -> node.record().equals(NodeRecord.NONE))) {
      return unfit != null ? unfit : hidden.map(Objections::lost).orElse(Membership.WAITS);
    }
    String says = nodes.stream().limit(seeds).map(Objections::shown).collect(joining("; "));
    return "no deployment is shown by a majority of the configured nodes: "
        + says
        + (isPassing(says) ? start(nodes.subList(0, seeds)) + ", or correct the list" : REMEDY);
  }

  /** What lets those of the nodes answer that do not. */
  private static String start(List<Seen> nodes) {
    List<String> causes =
        nodes.stream().map(Seen::status).filter(n -> !n.usable()).map(NodeStatus::cause).toList();
    boolean down = !causes.stream().allMatch(Objections::isRejection);
    boolean rejected = causes.stream().anyMatch(Objections::isRejection);
    return down
        ? ". Start what is down" + (rejected ? ", and correct the login or certificate" : "")
        : ". Correct the login or certificate";
  }

  private static String lost(Seen node) {
    String what = node.name() + " has shown a record and" + silent(node) + start(List.of(node));
    return what + ", or restart this program to found a deployment without it";
  }

  private static String shown(Seen node) {
    return node.name()
        + (node.status().usable() ? " shows " + node.record().withId() : silent(node));
  }

  private static String silent(Seen node) {
    String cause = node.status().cause().replaceFirst("\\.$", "");
    return SILENT + (cause.isEmpty() ? "" : ": " + cause);
  }

  /**
   * By node: the objection to it; null if it may vote.
   *
   * @param nodes with the words of all deployments
   * @param contradiction the objection to all nodes of this deployment, or null
   */
  List<@Nullable String> to(List<Seen> nodes, @Nullable String contradiction) {
    List<@Nullable String> objections = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      objections.add(contradiction != null ? contradiction : to(nodes.get(i), members.contains(i)));
    }
    return objections;
  }

  private @Nullable String to(Seen node, boolean member) {
    NodeRecord record = node.record();
    if (node.says() && !record.id().equals(current.id())) {
      return "belongs to another deployment: it shows %s, and this client works with %s%s"
          .formatted(record.withId(), current.withId(), REMEDY);
    }
    if (!member) {
      return "is no member of the set: " + current;
    }
    if (!node.keepsRecord()) {
      return current.epoch() > 1
          ? "shows no record of the set, which has changed: " + current
          : null;
    }
    if (node.isEmpty()) {
      return "has no record of the set yet: " + current;
    }
    return node.says() && maxLeaseMillis > record.longestGranted() ? longerThan(record) : null;
  }

  private String longerThan(NodeRecord record) {
    return ("its record holds maxLeaseTime %s ms, and this client uses %s ms: raise that of the"
            + " nodes first, or lower that of this client")
        .formatted(record.longestGranted(), maxLeaseMillis);
  }
}
