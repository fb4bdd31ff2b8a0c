package dev.redlock.internal.recording;

import dev.redlock.Redlock;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The state of a node's connection changed. */
@Name("dev.redlock.NodeState")
@Label("Node State")
@Description("The state of a node's connection changed.")
@Category({"Redlock"})
@StackTrace(false)
final class NodeStateEvent extends Event {
  /** Only asked whether a recording wants such events. */
  private static final NodeStateEvent ANY = new NodeStateEvent();

  @Label("Node")
  String node = "";

  @Label("State")
  String state = "";

  @Label("Cause")
  String cause = "";

  static boolean isOn() {
    return ANY.isEnabled();
  }

  static void commit(Redlock.NodeState told) {
    NodeStateEvent event = new NodeStateEvent();
    event.node = told.node();
    event.state = told.state().name();
    event.cause = told.cause();
    event.commit();
  }
}
