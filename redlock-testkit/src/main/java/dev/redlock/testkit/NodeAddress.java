package dev.redlock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.List;

/** The address of a server and the login; user and password may be empty. */
record NodeAddress(String host, int port, String user, String password, int database) {

  static NodeAddress local(int port, String password) {
    return local(port, "", password);
  }

  static NodeAddress local(int port, String user, String password) {
    return new NodeAddress("127.0.0.1", port, user, password, 0);
  }

  /**
   * Parses {@code redis://[[user]:password@]host[:port][/database]}, user and password
   * percent-encoded.
   */
  static NodeAddress parse(String text) {
    URI uri = URI.create(text.strip());
    if (!"redis".equals(uri.getScheme()) || uri.getHost() == null) {
      throw new IllegalArgumentException(
          "Expected redis://[[user]:password@]host[:port][/database], got scheme "
              + uri.getScheme()
              + " and host "
              + uri.getHost());
    }
    String login = uri.getRawUserInfo() == null ? "" : uri.getRawUserInfo();
    int colon = login.indexOf(':');
    String path = uri.getPath() == null ? "" : uri.getPath().replace("/", "");
    return new NodeAddress(
        uri.getHost(),
        uri.getPort() < 0 ? 6379 : uri.getPort(),
        colon < 0 ? "" : decoded(login.substring(0, colon)),
        decoded(login.substring(colon + 1)),
        path.isEmpty() ? 0 : Integer.parseInt(path));
  }

  /** The same server and login, reached through another port of this machine. */
  NodeAddress through(int gatePort) {
    return new NodeAddress("127.0.0.1", gatePort, user, password, database);
  }

  String uri() {
    String login = password.isEmpty() ? "" : encoded(user) + ":" + encoded(password) + "@";
    String path = database == 0 ? "" : "/" + database;
    return "redis://" + login + host + ":" + port + path;
  }

  /** Percent-encodes characters that are special in a URI or not ASCII. */
  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
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

  /** Omits the login, because the text appears in failure messages. */
  @Override
  public String toString() {
    return host + ":" + port;
  }
}
