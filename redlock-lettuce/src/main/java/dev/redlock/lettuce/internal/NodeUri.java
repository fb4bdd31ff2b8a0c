package dev.redlock.lettuce.internal;

import com.google.common.net.InetAddresses;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The address of one node. Its name and its messages contain no credentials. */
public final class NodeUri {
  private static final String FORM = "expected redis://host:port or rediss://host:port";
  private static final String ESCAPES =
      "; in a password write % as %25, @ as %40, # as %23, / as %2F, ? as %3F and , as %2C";

  /** What follows the credentials: a name or an IPv4 address, or an IPv6 address, and the rest. */
  private static final Pattern ADDRESS =
      Pattern.compile(
          "(?<host>[\\p{L}\\p{N}._-]+|\\[[^]]*]|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f.:]*)"
              + "(?::(?<port>\\d{1,5}))?(?:/\\d*)?(?:\\?.*)?");

  /** An address without credentials. Other text without an @ may be a part of a password. */
  private static final Pattern PLAIN = Pattern.compile("[\\p{L}\\p{N}._-]+(:\\d{1,5})?(/\\d*)?");

  private static final String PLAIN_SCHEME = "redis://";
  private static final String SOCKET = "redis-socket://";

  private static final Pattern PARAMETER = Pattern.compile("(\\w+)=(.+)");
  private static final String KNOWN =
      "known are database, clientName, libraryName, libraryVersion and verifyPeer";
  private static final Set<String> PARAMETERS =
      Set.of("database", "db", "clientname", "libraryname", "libraryversion", "verifypeer");

  private final RedisURI uri;
  private final String name;

  private NodeUri(RedisURI uri, String name) {
    this.uri = uri;
    this.name = name;
  }

  /**
   * Reads {@code redis://[user:password@]host[:port][/db]}, {@code rediss://} for TLS, or {@code
   * redis-socket://path}, with the parameters of Lettuce that suit one connection.
   *
   * @throws IllegalArgumentException with the URI, without credentials
   */
  public static NodeUri parse(String text) {
    RedisURI uri;
    try {
      uri = RedisURI.create(text);
    } catch (RuntimeException e) {
      // Without the cause, because its message contains the password.
      throw rejected(text, "is unreadable: " + FORM + escapes(text));
    }
    if (!uri.getSentinels().isEmpty()) {
      throw rejected(text, "names sentinels: a node is one master, not a group");
    }
    String socket = uri.getSocket();
    boolean local = socket != null && !socket.isEmpty();
    if (!local) {
      requireAddress(text, uri);
    }
    announceOnlyWhatIsGiven(parametersOf(text), uri);
    return new NodeUri(uri, local ? socket : name(uri));
  }

  /**
   * Lettuce announces its own name and version otherwise. A server before 7.2 and one that
   * restricts its users refuse this at each connection, and the start takes 5 ms more.
   */
  private static void announceOnlyWhatIsGiven(Set<String> given, RedisURI uri) {
    if (!given.contains("libraryname")) {
      uri.setLibraryName("");
    }
    if (!given.contains("libraryversion")) {
      uri.setLibraryVersion("");
    }
  }

  /**
   * Lettuce reads a host where there is none, for example the password before an unescaped #. So
   * what follows the last @ must be an address, and the one that Lettuce has read.
   */
  private static void requireAddress(String text, RedisURI uri) {
    String rest = text.substring(Math.max(text.indexOf("://") + 3, text.lastIndexOf('@') + 1));
    Matcher address = ADDRESS.matcher(rest);
    String read = uri.getHost();
    if (!address.matches() || read == null) {
      throw rejected(
          text, "contains no host with an optional port number: " + FORM + escapes(text));
    }
    String host = address.group("host");
    String port = address.group("port");
    if (host.indexOf('%') >= 0) {
      throw rejected(text, "has an IPv6 zone, which is not supported: write the address without %");
    } else if (host.indexOf(':') >= 0 && !isAddress(host)) {
      throw rejected(text, "contains no valid IPv6 address");
    } else if (port != null && (port.matches("0+") || Integer.parseInt(port) > 65_535)) {
      throw rejected(text, "has a port that is not between 1 and 65535");
    }
    // The JDK, and so Lettuce, reads a name with an underscore and its port as one.
    if (read.equals(host + ":" + port)) {
      uri.setHost(host);
      uri.setPort(Integer.parseInt(port));
    } else if (!read.equals(host)) {
      throw rejected(text, "can be read in two ways" + ESCAPES);
    }
  }

  /**
   * The names of the parameters. One that has no effect is a mistake, which would only show much
   * later.
   */
  private static Set<String> parametersOf(String text) {
    Set<String> given = new HashSet<>();
    int query = text.indexOf('?', text.lastIndexOf('@') + 1);
    if (query < 0) {
      return given;
    }
    for (String parameter : text.substring(query + 1).split("&", -1)) {
      Matcher named = PARAMETER.matcher(parameter);
      if (!named.matches()) {
        throw rejected(text, "has a parameter without name or value" + ESCAPES);
      }
      String key = named.group(1).toLowerCase(Locale.ROOT);
      if (key.equals("timeout")) {
        throw rejected(text, "has the parameter timeout: set the connect timeout in the options");
      } else if (!PARAMETERS.contains(key)) {
        throw rejected(text, "has an unknown parameter: " + KNOWN);
      } else if (key.startsWith("d") && !named.group(2).matches("\\d{1,9}")) {
        throw rejected(text, "has a database that is no number");
      }
      given.add(key);
    }
    return given;
  }

  private static IllegalArgumentException rejected(String text, String why) {
    return new IllegalArgumentException("node URI '" + mask(text) + "' " + why);
  }

  /** How to write a password, if the text may contain one. */
  private static String escapes(String text) {
    return mask(text).equals(text) ? "" : ESCAPES;
  }

  /**
   * The address of another server, with the credentials, TLS and parameters of this one, not its
   * database: a name leads to the same records from each list.
   *
   * @param other as {@link #name()} returns it, or a URI of which only address and database count
   * @throws IllegalArgumentException if it is no address; the message contains no password
   */
  public NodeUri sibling(String other) {
    boolean whole = other.contains("://");
    RedisURI read;
    try {
      if (!whole && other.indexOf('@') >= 0) {
        throw rejected(other, "contains credentials: " + FORM);
      }
      read = parse(whole ? other : (other.startsWith("/") ? SOCKET : PLAIN_SCHEME) + other).uri;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "node name '" + mask(other) + "' is no address: " + e.getMessage(), e);
    }
    RedisURI made = toRedisUri();
    String socket = read.getSocket();
    boolean local = socket != null && !socket.isEmpty();
    if (local) {
      made.setSocket(socket);
    } else {
      made.setSocket(null);
      made.setHost(read.getHost());
      made.setPort(read.getPort());
      made.setDatabase(read.getDatabase());
    }
    return new NodeUri(made, local ? socket : name(made));
  }

  /** The address of a node that a cluster reported. */
  public static NodeUri of(RedisURI uri) {
    return new NodeUri(RedisURI.builder(uri).build(), name(uri));
  }

  private static String name(RedisURI uri) {
    String host = uri.getHost();
    boolean bare = host.indexOf(':') >= 0 && !host.startsWith("[");
    String database = uri.getDatabase() == 0 ? "" : "/" + uri.getDatabase();
    return (bare ? "[" + host + "]" : host.toLowerCase(Locale.ROOT))
        + ":"
        + uri.getPort()
        + database;
  }

  private static boolean isAddress(String host) {
    return InetAddresses.isInetAddress(
        host.startsWith("[") ? host.substring(1, host.length() - 1) : host);
  }

  /**
   * The URI without credentials: what is between the scheme and the last @ is hidden. Without an @
   * all is hidden that is no plain address, because the URI may be cut within a password.
   */
  public static String mask(String text) {
    int end = text.indexOf("://");
    String scheme = end < 0 ? "" : text.substring(0, end + 3);
    int at = text.lastIndexOf('@');
    if (at >= scheme.length()) {
      return scheme + "***" + text.substring(at);
    }
    String[] rest = text.substring(scheme.length()).split("\\?", 2);
    boolean plain = PLAIN.matcher(rest[0]).matches();
    return scheme + (plain ? rest[0] : "***") + (plain && rest.length > 1 ? "?***" : "");
  }

  /** Host, port and a database other than 0, or the path of the socket. */
  public String name() {
    return name;
  }

  /** Whether the connection is encrypted. */
  public boolean encrypted() {
    return uri.isSsl();
  }

  /** Why another server may answer although the connection is encrypted; empty if none can. */
  public String weakness() {
    return switch (uri.isSsl() ? uri.getVerifyMode() : SslVerifyMode.FULL) {
      case NONE -> "the client does not verify the server's certificate; any server may answer";
      case CA ->
          "the client verifies the server's certificate, but not its host name (verifyPeer=CA): any"
              + " server with a certificate of that authority may answer";
      case FULL -> "";
    };
  }

  /** A copy for one Lettuce client. */
  public RedisURI toRedisUri() {
    return RedisURI.builder(uri).build();
  }

  @Override
  public String toString() {
    return name;
  }
}
