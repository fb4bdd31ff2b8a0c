package dev.redlock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cli.run.StartScript;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.CleanThreads;
import dev.redlock.lettuce.internal.PemFile;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import io.lettuce.core.SslOptions;
import java.io.Console;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;

/**
 * Which nodes, and how to log in. What the command line does not say comes from the environment,
 * then from the file of nodes. A password is never an argument: other users of the machine see the
 * arguments of a process. A command that has subcommands passes these options on to them.
 */
public final class NodeOptions {
  /** Of a deployment whose clients do not choose. */
  private static final Duration USUAL_LONGEST = Duration.ofSeconds(30);

  @Option(
      scope = ScopeType.INHERIT,
      names = "--nodes",
      paramLabel = "URIS",
      description =
          "The masters, separated by commas: redis://host:port, or rediss:// for TLS."
              + " Default: the environment variable REDLOCK_NODES, then the file of nodes."
              + " May not contain a password.")
  private @Nullable String nodes;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--nodes-file",
      paramLabel = "FILE",
      description =
          "The file of nodes, one URI per line. Default: REDLOCK_NODES_FILE, then"
              + " ~/.config/redlock/nodes, then /etc/redlock/nodes.")
  private @Nullable Path nodesFile;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--user",
      paramLabel = "NAME",
      description = "The Redis user. Default: REDLOCK_USER, then that of the URI.")
  private @Nullable String user;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--password-file",
      paramLabel = "FILE",
      description =
          "A file whose first line is the password. Default: REDLOCK_PASSWORD_FILE. Or set"
              + " REDLOCK_PASSWORD to the password.")
  private @Nullable String passwordFile;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--ask-password",
      description = "Ask for the password on the terminal.")
  private boolean askPassword;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--ca",
      paramLabel = "FILE",
      description =
          "Certificates (PEM) of the authorities of rediss:// masters. Default: REDLOCK_CA, then"
              + " those of Java.")
  private @Nullable String authority;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--cert",
      paramLabel = "FILE",
      description =
          "The certificate (PEM) of this client, for masters that want one. Default: REDLOCK_CERT.")
  private @Nullable String certificate;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--key",
      paramLabel = "FILE",
      description = "The key of --cert (PEM, PKCS #8, without a password). Default: REDLOCK_KEY.")
  private @Nullable String key;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--prefix",
      paramLabel = "TEXT",
      description = "The prefix of all keys. Default: REDLOCK_PREFIX, then redlock.")
  private @Nullable String prefix;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--max-lease-time",
      paramLabel = "TIME",
      description =
          "The longest lease time of the deployment, the same for all clients."
              + " Default: REDLOCK_MAX_LEASE_TIME, then 30s.")
  private @Nullable Duration maxLeaseTime;

  @Option(
      scope = ScopeType.INHERIT,
      names = "--restart-guard",
      hidden = true,
      description = "UPTIME or OFF, for tests.")
  private RestartGuard restartGuard = RestartGuard.UPTIME;

  @Option(
      scope = ScopeType.INHERIT,
      names = {"-v", "--verbose"},
      description = "Say more on standard error; twice for every detail of the client.")
  private boolean[] verbose = {};

  private Map<String, String> environment = System.getenv();

  /** For tests. */
  NodeOptions environment(Map<String, String> environment) {
    this.environment = environment;
    return this;
  }

  /** Whether the option verbose was given. */
  public boolean verbose() {
    return verbose.length > 0;
  }

  /**
   * A client of these nodes, which begins to connect. The caller closes it.
   *
   * @param setup may change the builder, before Lettuce is used; it is given the longest lease time
   * @throws Failure if the options are wrong
   */
  public Redlock client(BiConsumer<RedlockBuilder, Duration> setup) {
    if (verbose()) {
      System.setProperty(
          "org.slf4j.simpleLogger.log.dev.redlock", verbose.length > 1 ? "debug" : "info");
    }
    NodesFile file = file();
    List<String> uris = uris(file);
    Duration longest = maxLeaseTime(file);
    String keys = value(prefix, "REDLOCK_PREFIX", file, "prefix");
    try {
      RedlockBuilder builder = Redlock.builder().restartGuard(restartGuard);
      setup.accept(builder, longest == null ? USUAL_LONGEST : longest);
      LettuceOptions.Builder options = LettuceOptions.builder().clientResources(Threads.few());
      SslOptions tls =
          PemFile.tls(
              new PemFile("--ca", value(authority, "REDLOCK_CA", file, "ca")),
              new PemFile("--cert", value(certificate, "REDLOCK_CERT", file, "cert")),
              new PemFile("--key", value(key, "REDLOCK_KEY", file, "key")));
      if (tls != null) {
        options.sslOptions(tls);
      }
      builder.nodes(LettuceNodes.standalone(uris, options.build()).toArray(LockNode[]::new));
      if (longest != null) {
        builder.maxLeaseTime(longest);
      }
      if (keys != null) {
        builder.keyPrefix(keys);
      }
      return CleanThreads.call(builder::build); // Otherwise each node starts threads of its own.
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  private NodesFile file() {
    if (nodes != null && nodesFile != null) {
      throw Failure.usage("--nodes and --nodes-file exclude each other");
    }
    String named = environment.get("REDLOCK_NODES_FILE");
    Path path =
        nodesFile != null
            ? nodesFile
            : named != null && !named.isEmpty() ? Path.of(named) : NodesFile.usual(environment);
    return path == null ? NodesFile.NONE : NodesFile.read(path);
  }

  private List<String> uris(NodesFile file) {
    List<String> uris;
    String listed = environment.get("REDLOCK_NODES");
    if (nodes != null) {
      uris = split(nodes);
      if (uris.stream().anyMatch(NodeOptions::hasPassword)) {
        throw Failure.usage(
            "a URI of --nodes contains a password, and every user of this machine can read the"
                + " arguments of a process: put the URIs into REDLOCK_NODES or a file of nodes, or"
                + " the password into REDLOCK_PASSWORD or a file (--password-file)");
      }
    } else if (nodesFile == null && listed != null && !listed.isBlank()) {
      uris = split(listed);
    } else {
      uris = file.uris();
    }
    for (String uri : uris) {
      if (!uri.contains("://") && !uri.contains("@")) {
        throw Failure.usage("'" + uri + "' is no URI: did you mean redis://" + uri + "?");
      }
    }
    if (uris.isEmpty()) {
      throw Failure.usage(
          "no nodes are given: use --nodes redis://host1:6379,redis://host2:6379,redis://host3:6379,"
              + " or set REDLOCK_NODES, or write one URI per line into ~/.config/redlock/nodes");
    }
    String name = value(user, "REDLOCK_USER", file, "user");
    String password = password(file);
    return uris.stream().map(uri -> withLogin(uri, name, password)).toList();
  }

  private static List<String> split(String list) {
    return Arrays.stream(list.split("[,\\s]+")).filter(uri -> !uri.isEmpty()).toList();
  }

  /** What stands before the last @, with a colon: a user alone is no secret. */
  static boolean hasPassword(String uri) {
    int begin = uri.indexOf("://") + 3;
    int end = uri.lastIndexOf('@');
    return end > begin && uri.substring(begin, end).indexOf(':') >= 0;
  }

  /** The URI with a login, unless it has a password of its own. */
  static String withLogin(String uri, @Nullable String user, @Nullable String password) {
    int begin = uri.indexOf("://");
    if (password == null || begin < 0 || hasPassword(uri)) {
      return uri;
    }
    int end = uri.lastIndexOf('@');
    String own = end > begin ? uri.substring(begin + 3, end) : "";
    String name = user != null ? encoded(user) : own;
    return uri.substring(0, begin + 3)
        + name
        + ":"
        + encoded(password)
        + "@"
        + uri.substring(Math.max(end + 1, begin + 3));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  private @Nullable String password(NodesFile file) {
    if (askPassword) {
      Console console = Terminal.console();
      char[] typed = console == null ? null : console.readPassword("Redis password: ");
      if (typed == null) {
        throw Failure.usage(
            "--ask-password needs a terminal; use --password-file or REDLOCK_PASSWORD");
      }
      return new String(typed);
    }
    String given = environment.get("REDLOCK_PASSWORD");
    if (passwordFile == null && given != null && !given.isEmpty()) {
      if (given.endsWith("\n")) {
        throw Failure.usage("REDLOCK_PASSWORD ends with a line feed");
      }
      return given;
    }
    String path = value(passwordFile, "REDLOCK_PASSWORD_FILE", file, "password-file");
    if (path == null) {
      return null;
    }
    List<String> lines = lines("password file", Path.of(path));
    if (lines.isEmpty() || lines.get(0).isEmpty()) {
      throw Failure.usage("the password file " + path + " is empty");
    }
    return lines.get(0);
  }

  /** The lines of a file. The keeper of a lock has none of the caller's open files. */
  static List<String> lines(String what, Path file) {
    try {
      boolean open = Files.exists(file) || file.startsWith("/dev/fd") || file.startsWith("/proc");
      if (StartScript.isThere() && open && !Files.isRegularFile(file)) {
        throw new IOException("redlock run needs a regular file");
      }
      return Files.readAllLines(file, UTF_8);
    } catch (IOException e) {
      throw Failure.usage("the " + what + " " + file + " cannot be read: " + why(e));
    }
  }

  /** Why a file cannot be used. The message of some exceptions is its name alone. */
  public static String why(IOException e) {
    return e instanceof NoSuchFileException
        ? "there is no such file"
        : e instanceof AccessDeniedException ? "permission denied" : "" + e.getMessage();
  }

  private @Nullable Duration maxLeaseTime(NodesFile file) {
    if (maxLeaseTime != null) {
      return maxLeaseTime;
    }
    String given = value(null, "REDLOCK_MAX_LEASE_TIME", file, "max-lease-time");
    try {
      return given == null ? null : TimeSpan.parse(given);
    } catch (TypeConversionException e) {
      throw Failure.usage("max-lease-time: " + e.getMessage());
    }
  }

  private @Nullable String value(
      @Nullable String option, String variable, NodesFile file, String setting) {
    if (option != null) {
      return option;
    }
    String given = environment.get(variable);
    return given != null && !given.isEmpty() ? given : file.settings().get(setting);
  }
}
