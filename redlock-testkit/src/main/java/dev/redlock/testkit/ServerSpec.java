package dev.redlock.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * How one server shall run.
 *
 * @param port the loopback port to listen on
 * @param appendOnly whether it keeps an append-only file, so that a restart can keep the data
 * @param password what clients must log in with; empty for none
 * @param extraArgs further command line options; they come last and so override ours
 */
record ServerSpec(int port, boolean appendOnly, String password, List<String> extraArgs) {

  /** The server's command line after the program's name, bar where it listens and stores. */
  List<String> args() {
    List<String> args = new ArrayList<>(List.of("--save", "", "--daemonize", "no"));
    args.addAll(List.of("--appendonly", appendOnly ? "yes" : "no"));
    // Written before the reply and never held up by a sync in the background. A killed process
    // loses
    // nothing with it; a machine without power would, but that is not what we can play.
    args.addAll(List.of("--appendfsync", "no"));
    if (!password.isEmpty()) {
      args.addAll(List.of("--requirepass", password));
    }
    args.addAll(extraArgs);
    return args;
  }
}
