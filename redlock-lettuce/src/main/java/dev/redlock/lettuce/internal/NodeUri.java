package dev.redlock.lettuce.internal;

import com.google.common.net.InetAddresses;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import java.util.Locale;
import java.util.regex.Pattern;

/** The address of one node. Its name and its messages contain no credentials. */
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
   * @throws IllegalArgumentException with the URI, without credentials
   */
  public static NodeUri parse(String text) {
    RedisURI uri;
    try {
      uri = RedisURI.create(text);
    } catch (RuntimeException e) {
      // Without the cause, because its message contains the password.
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
          "node URI '" + mask(text) + "' contains no host (write an @ in a password as %40)");
    } else if (host.indexOf(':') >= 0 && !isAddress(host)) {
      throw new IllegalArgumentException("node URI '" + mask(text) + "' contains no port number");
    }
    return new NodeUri(uri, name(uri));
  }

  /** The address of a node that a cluster reported. */
  public static NodeUri of(RedisURI uri) {
    return new NodeUri(RedisURI.builder(uri).build(), name(uri));
  }

  private static String name(RedisURI uri) {
    String host = uri.getHost();
    boolean bare = host.indexOf(':') >= 0 && !host.startsWith("[");
    return (bare ? "[" + host + "]" : host.toLowerCase(Locale.ROOT)) + ":" + uri.getPort();
  }

  /** Only IPv6 addresses contain colons; Lettuce accepts any host that does. */
  private static boolean isAddress(String host) {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    int zone = bare.indexOf('%');
    return InetAddresses.isInetAddress(zone < 0 ? bare : bare.substring(0, zone));
  }

  /** The URI without the part before the host. */
  public static String mask(String text) {
    String masked = CREDENTIALS.matcher(text).replaceFirst("***@");
    // Without a scheme a password looks like a host: show only what follows the last @.
    int at = masked.lastIndexOf('@');
    return at >= 0 && !masked.startsWith("***@", Math.max(0, at - 3))
        ? "***" + masked.substring(at)
        : masked;
  }

  /** Host and port, or the path of the socket. */
  public String name() {
    return name;
  }

  /** Whether the connection is encrypted. */
  public boolean encrypted() {
    return uri.isSsl();
  }

  /** Whether the connection is encrypted, but the client does not verify the certificate. */
  public boolean unverified() {
    return uri.isSsl() && !uri.isVerifyPeer();
  }

  /**
   * Whether the client verifies the certificate, but not its host name: any server with a
   * certificate of that authority may answer.
   */
  public boolean hostUnverified() {
    return uri.isSsl() && uri.getVerifyMode() == SslVerifyMode.CA;
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
