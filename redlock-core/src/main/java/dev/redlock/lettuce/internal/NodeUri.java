package dev.redlock.lettuce.internal;

import com.google.common.net.InetAddresses;
import io.lettuce.core.RedisURI;
import java.util.Locale;
import java.util.regex.Pattern;

/** The address of one node, read from a URI; what is printed of it holds no credentials. */
public final class NodeUri {
  private static final Pattern CREDENTIALS = Pattern.compile("(?<=://)[^/]*@");

  private final RedisURI uri;
  private final String name;

  private NodeUri(RedisURI uri, String name) {
    this.uri = uri;
    this.name = name;
  }

  /**
   * Reads {@code redis://[user:password@]host[:port][/db]}, {@code rediss://} for TLS, or {@code
   * redis-socket://path}.
   *
   * @throws IllegalArgumentException naming the URI, without credentials
   */
  public static NodeUri parse(String text) {
    RedisURI uri;
    try {
      uri = RedisURI.create(text);
    } catch (RuntimeException e) {
      // Without its cause, whose message quotes the password.
      throw new IllegalArgumentException(
          "unreadable node URI '"
              + mask(text)
              + "': expected redis://host:port or rediss://host:port");
    }
    if (!uri.getSentinels().isEmpty()) {
      throw new IllegalArgumentException(
          "node URI '" + mask(text) + "' names sentinels: a node is one master, not a group");
    }
    String host = uri.getHost();
    String socket = uri.getSocket();
    if (socket != null && !socket.isEmpty()) {
      return new NodeUri(uri, socket);
    } else if (host == null || host.isEmpty() || host.indexOf('@') >= 0) {
      throw new IllegalArgumentException(
          "node URI '" + mask(text) + "' names no host (an @ in a password is written %40)");
    } else if (host.indexOf(':') >= 0 && !isAddress(host)) {
      throw new IllegalArgumentException(
          "node URI '" + mask(text) + "' names no port that is a number");
    }
    return new NodeUri(uri, name(uri));
  }

  /** What a client of a cluster was told of one of its nodes. */
  public static NodeUri of(RedisURI uri) {
    return new NodeUri(RedisURI.builder(uri).build(), name(uri));
  }

  private static String name(RedisURI uri) {
    String host = uri.getHost();
    boolean bare = host.indexOf(':') >= 0 && !host.startsWith("[");
    return (bare ? "[" + host + "]" : host.toLowerCase(Locale.ROOT)) + ":" + uri.getPort();
  }

  /** IPv6 addresses alone hold colons; Lettuce takes whatever else does for a host as a whole. */
  private static boolean isAddress(String host) {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    int zone = bare.indexOf('%');
    return InetAddresses.isInetAddress(zone < 0 ? bare : bare.substring(0, zone));
  }

  /** The text without what stands before the host. */
  public static String mask(String text) {
    String masked = CREDENTIALS.matcher(text).replaceFirst("***@");
    // Without a scheme nothing tells a password from a host: show what follows the last @ only.
    int at = masked.lastIndexOf('@');
    return at >= 0 && !masked.startsWith("***@", Math.max(0, at - 3))
        ? "***" + masked.substring(at)
        : masked;
  }

  /** Host and port, or the path of the socket; equal for equal servers as far as names tell. */
  public String name() {
    return name;
  }

  /** Whether the connection is encrypted. */
  public boolean encrypted() {
    return uri.isSsl();
  }

  /** Whether the connection is encrypted, but the server's certificate is not checked. */
  public boolean unverified() {
    return uri.isSsl() && !uri.isVerifyPeer();
  }

  /** A copy for a client of its own. */
  public RedisURI toRedisUri() {
    return RedisURI.builder(uri).build();
  }

  @Override
  public String toString() {
    return name;
  }
}
