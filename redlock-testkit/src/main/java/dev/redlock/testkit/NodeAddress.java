package dev.redlock.testkit;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** Where a server listens and how to log in there; user and password may be empty. */
record NodeAddress(String host, int port, String user, String password, int database) {

  static NodeAddress local(int port, String password) {
    return new NodeAddress("127.0.0.1", port, "", password, 0);
  }

  /** Reads {@code redis://[[user]:password@]host[:port][/database]}. */
  static NodeAddress parse(String text) {
    URI uri = URI.create(text.strip());
    if (!"redis".equals(uri.getScheme()) || uri.getHost() == null) {
      throw new IllegalArgumentException(
          "Expected redis://[[user]:password@]host[:port][/database], got scheme "
              + uri.getScheme()
              + " and host "
              + uri.getHost());
    }
    String login = uri.getUserInfo() == null ? "" : uri.getUserInfo();
    int colon = login.indexOf(':');
    String path = uri.getPath() == null ? "" : uri.getPath().replace("/", "");
    return new NodeAddress(
        uri.getHost(),
        uri.getPort() < 0 ? 6379 : uri.getPort(),
        colon < 0 ? "" : login.substring(0, colon),
        login.substring(colon + 1),
        path.isEmpty() ? 0 : Integer.parseInt(path));
  }

  /** The same server and login, reached through another port of this machine. */
  NodeAddress through(int gatePort) {
    return new NodeAddress("127.0.0.1", gatePort, user, password, database);
  }

  String uri() {
    String login = password.isEmpty() ? "" : user + ":" + password + "@";
    String path = database == 0 ? "" : "/" + database;
    return "redis://" + login + host + ":" + port + path;
  }

  /** The commands that log in and select the database. */
  List<String[]> greeting() {
    List<String[]> commands = new ArrayList<>();
    if (!password.isEmpty()) {
      commands.add(
          user.isEmpty() ? new String[] {"AUTH", password} : new String[] {"AUTH", user, password});
    }
    if (database != 0) {
      commands.add(new String[] {"SELECT", Integer.toString(database)});
    }
    return commands;
  }

  /** Without the login: it ends up in failure messages. */
  @Override
  public String toString() {
    return host + ":" + port;
  }
}
