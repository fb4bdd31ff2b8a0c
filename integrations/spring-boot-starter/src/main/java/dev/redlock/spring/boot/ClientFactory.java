package dev.redlock.spring.boot;

import static dev.redlock.spring.boot.RedlockProperties.invalid;

import dev.redlock.InvalidOptionException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.lettuce.Credentials;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spring.LockOptionsResolver;
import dev.redlock.spring.RedlockBuilderCustomizer;
import dev.redlock.spring.RedlockConnectionDetails;
import io.lettuce.core.SslOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/**
 * Makes the client from the properties. If the client rejects a value, the message names the key of
 * the property.
 */
record ClientFactory(RedlockProperties properties) {

  Redlock client(
      List<RedlockConnectionDetails> details, List<RedlockBuilderCustomizer> customizers) {
    RedlockBuilder builder =
        Redlock.builder()
            .defaults(options("redlock.defaults.", properties.defaults(), LockOptions.defaults()))
            .restartGuard(restartGuard(details))
            .keyPrefix(properties.keyPrefix())
            .traceLeaks(properties.traceLeaks());
    if (properties.maxLeaseTime() != null) {
      builder.maxLeaseTime(properties.maxLeaseTime());
    }
    try {
      if (properties.label() != null) {
        builder.label(properties.label());
      }
    } catch (InvalidOptionException e) {
      throw rejected(e, false);
    }
    List<LockNode> nodes = nodes(details);
    boolean built = false;
    try {
      nodes.forEach(builder::nodes);
      customizers.forEach(customizer -> customizer.customize(builder));
      Redlock client = build(builder, nodes.isEmpty());
      built = true;
      return client;
    } finally {
      if (!built) {
        nodes.forEach(LockNode::close);
      }
    }
  }

  private RestartGuard restartGuard(List<RedlockConnectionDetails> details) {
    RestartGuard wanted = properties.restartGuard();
    if (wanted != null) {
      return wanted;
    }
    boolean temporary =
        !details.isEmpty() && details.stream().allMatch(RedlockConnectionDetails::temporary);
    return temporary ? RestartGuard.OFF : RestartGuard.UPTIME;
  }

  private Redlock build(RedlockBuilder builder, boolean noNodes) {
    try {
      return builder.build();
    } catch (InvalidOptionException e) {
      throw rejected(e, noNodes);
    }
  }

  private InvalidOptionException rejected(InvalidOptionException e, boolean noNodes) {
    String option = e.option();
    String reason = String.valueOf(e.getMessage());
    if (noNodes && option.equals("nodes")) {
      return invalid(
          "redlock.nodes",
          "",
          "give the URIs of 1 to 63 independent masters, such as redis://host:6379 (an odd number"
              + " is best), or set redlock.enabled to false");
    } else if (Set.of("keyPrefix", "label", "nodes").contains(option)) {
      return invalid("redlock." + kebab(option), e.value(), reason);
    }
    // A maximum below 30 s is the default lease time too, to which all other options must fit.
    return option.equals("leaseTime") && properties.defaults().leaseTime() != null
        ? invalid("redlock.defaults.lease-time", e.value(), reason)
        : invalid("redlock.max-lease-time", properties.maxLeaseTime(), reason);
  }

  private List<LockNode> nodes(List<RedlockConnectionDetails> details) {
    List<LockNode> nodes = new ArrayList<>();
    for (RedlockConnectionDetails one : details) {
      requireEncrypted(one);
      LettuceOptions options = lettuce(one);
      try {
        nodes.addAll(LettuceNodes.standalone(one.nodes(), options));
      } catch (IllegalArgumentException e) {
        nodes.forEach(LockNode::close);
        throw badNode(one.nodes(), String.valueOf(e.getMessage()));
      }
    }
    return nodes;
  }

  /** With {@code redis://} the bundle would be ignored, and the password sent in the clear. */
  private static void requireEncrypted(RedlockConnectionDetails details) {
    List<String> uris = details.sslBundle() == null ? List.of() : details.nodes();
    for (int i = 0; i < uris.size(); i++) {
      if (uris.get(i).regionMatches(true, 0, "redis://", 0, 8)) {
        throw invalid(
            "redlock.nodes[" + i + "]",
            "redis://…",
            "there is an SSL bundle (redlock.ssl.bundle), but this URI is one without TLS; write"
                + " rediss://host:port, or remove the bundle");
      }
    }
  }

  /** The reason has the URI without its password, which the value would show. */
  private static InvalidOptionException badNode(List<String> uris, String reason) {
    for (int i = 0; i < uris.size(); i++) {
      try {
        LettuceNodes.standalone(List.of(uris.get(i)));
      } catch (IllegalArgumentException e) {
        String form = "redis://host:port";
        return invalid(
            "redlock.nodes[" + i + "]",
            null,
            reason.contains(form) ? reason : reason + "; write " + form + " or rediss://host:port");
      }
    }
    return invalid("redlock.nodes", null, reason);
  }

  private LettuceOptions lettuce(RedlockConnectionDetails details) {
    LettuceOptions.Builder builder = LettuceOptions.builder();
    try {
      builder.connectTimeout(properties.connectTimeout());
    } catch (IllegalArgumentException e) {
      throw invalid(
          "redlock.connect-timeout", properties.connectTimeout(), String.valueOf(e.getMessage()));
    }
    String password = details.password();
    if (password != null) {
      Credentials credentials = new Credentials(details.username(), password.toCharArray());
      builder.credentials(() -> CompletableFuture.completedStage(credentials));
    } else if (details.username() != null) {
      throw invalid("redlock.username", details.username(), "needs redlock.password too");
    }
    if (details.sslBundle() != null) {
      builder.sslOptions(
          () -> ssl(Objects.requireNonNull(details.sslBundle(), "the SSL bundle is gone")));
    }
    return builder.build();
  }

  private static SslOptions ssl(SslBundle bundle) {
    SslOptions.Builder ssl =
        SslOptions.builder()
            .keyManager(bundle.getManagers().getKeyManagerFactory())
            .trustManager(bundle.getManagers().getTrustManagerFactory());
    @Nullable String[] ciphers = bundle.getOptions().getCiphers();
    if (ciphers != null) {
      ssl.cipherSuites(bundle.getOptions().getCiphers());
    }
    @Nullable String[] protocols = bundle.getOptions().getEnabledProtocols();
    if (protocols != null) {
      ssl.protocols(bundle.getOptions().getEnabledProtocols());
    }
    return ssl.build();
  }

  private record Pattern(java.util.regex.Pattern names, LockOptions options) {
    boolean matches(List<String> given) {
      return given.stream().allMatch(name -> names.matcher(name).matches());
    }

    /** As the description of the property says: * is any text, ? is one character. */
    static java.util.regex.Pattern of(String text) {
      String quoted = java.util.regex.Pattern.quote(text);
      String regex = quoted.replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
      return java.util.regex.Pattern.compile(regex, java.util.regex.Pattern.DOTALL);
    }
  }

  LockOptionsResolver resolver(Redlock redlock) {
    List<Pattern> patterns = new ArrayList<>();
    for (int i = 0; i < properties.locks().size(); i++) {
      patterns.add(pattern(redlock, "redlock.locks[" + i + "].", properties.locks().get(i)));
    }
    return names ->
        patterns.stream()
            .filter(pattern -> pattern.matches(names))
            .findFirst()
            .map(Pattern::options)
            .orElseGet(redlock::defaultOptions);
  }

  private static Pattern pattern(Redlock redlock, String prefix, RedlockProperties.Named named) {
    String text = named.pattern();
    if (text == null || text.isBlank()) {
      throw invalid(
          prefix + "pattern",
          text,
          (text == null ? "is missing; " : "is blank; ")
              + "give a pattern of names, such as order-*");
    }
    LockOptions options = options(prefix, named.options(), redlock.defaultOptions());
    try {
      redlock.lock("name", options); // Compares the lease time with maxLeaseTime. Sends nothing.
    } catch (InvalidOptionException e) {
      throw invalid(prefix + kebab(e.option()), e.value(), String.valueOf(e.getMessage()));
    }
    return new Pattern(Pattern.of(text), options);
  }

  private static LockOptions options(
      String prefix, RedlockProperties.Options given, LockOptions base) {
    try {
      return given.over(base);
    } catch (InvalidOptionException e) { // The message begins with the option and its value.
      throw invalid(prefix + kebab(e.option()), null, String.valueOf(e.getMessage()));
    }
  }

  private static String kebab(String camel) {
    return camel.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
