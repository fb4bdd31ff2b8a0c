package dev.redlock.it;

import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server that cannot be a node: the state of the node says why in words. */
class RefusedNodeIT {
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "HELLO, -NOPROTO unsupported protocol version, Redis 6.0 or newer",
    "HELLO, '-ERR unknown command `HELLO`, with args beginning with: `3`', Redis 6.0 or newer",
    "HELLO, -NOPERM this user has no permissions to run the 'hello' command, HELLO 3 (RESP3)",
    "HELLO, +OK, the reply to HELLO 3 was not understood",
    "HELLO, _, the reply to HELLO 3 was not understood",
    "HELLO, HTTP/1.1 400 Bad Request, it replies with HTTP",
    "HELLO, SSH-2.0-OpenSSH, does not speak the Redis protocol",
    "HELLO, (hang up), the server closed the connection during the handshake",
    "HELLO, '', timed out after 500 ms",
    "INFO, :5, the reply to INFO was not understood",
    "INFO, *0, the reply to INFO was not understood",
    "marker, +OK, the reply to EVAL of the marker script was not understood",
    "marker, *4|:1|:2|:3|:4, was not understood: a list of 4 values",
    "marker, *7|:1|:2|:3|:4|:5|:6|:7, was not understood: a list of 7 values"
  })
  void serverThatIsNoRedis_isDescribedInWords(String asked, String reply, String cause)
      throws IOException {
    try (FakeServer fake = new FakeServer()) {
      fake.answer(command -> FakeServer.isFor(command, asked) ? bytes(reply) : null);
      try (Redlock redlock =
          Redlock.builder().restartGuard(RestartGuard.OFF).nodes(fake.uri()).build()) {
        Eventually.holds(
            () -> redlock.operations().nodes().get(0).cause().contains(cause),
            Duration.ofSeconds(30),
            () -> redlock.operations().nodes().toString());
      }
    }
  }

  private static String bytes(String reply) {
    return reply.equals(FakeServer.HANG_UP) || reply.isEmpty()
        ? reply
        : reply.replace("|", "\r\n") + "\r\n";
  }
}
