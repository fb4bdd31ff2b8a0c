package dev.redlock.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * The settings of one server.
 *
 * @param port the loopback port to listen on
 * @param appendOnly whether it keeps an append-only file, so that a restart can keep the data
 * @param user the user that clients must use; empty for the default user
 * @param password the password that clients must use; empty for none
 * @param extraArgs additional command line options; they come last and override the others
 */
record ServerSpec(
    int port, boolean appendOnly, String user, String password, List<String> extraArgs) {

  /** The command line of the server without the program, the ports and the directory. */
  List<String> args() {
    List<String> args = new ArrayList<>(List.of("--save", "", "--daemonize", "no"));
    args.addAll(List.of("--appendonly", appendOnly ? "yes" : "no"));
    // The server writes the file before it replies, and never delays a write for a sync in the
    // background. A killed process loses nothing; a power failure would lose data, but the kit
    // cannot simulate that.
    args.addAll(List.of("--appendfsync", "no"));
    if (!user.isEmpty()) {
      args.addAll(List.of("--user", user, "on", ">" + password, "~*", "allchannels", "+@all"));
      args.addAll(List.of("--user", "default", "off"));
    } else if (!password.isEmpty()) {
      args.addAll(List.of("--requirepass", password));
    }
    args.addAll(extraArgs);
    return args;
  }
}
