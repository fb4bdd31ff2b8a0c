package dev.redlock.cli.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PageServerTest {
  private final Board board = new Board();
  private PageServer server;

  @BeforeEach
  void start() throws IOException {
    server =
        new PageServer(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Set.of("127.0.0.1", "[::1]", "localhost"),
            board,
            Duration.ofMillis(300));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Socket ask(String method, String path, String host) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket
        .getOutputStream()
        .write((method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").getBytes(UTF_8));
    return socket;
  }

  private static BufferedReader lines(Socket socket) throws IOException {
    return new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
  }

  private String status(String method, String path, String host) throws IOException {
    try (Socket socket = ask(method, path, host)) {
      return lines(socket).readLine();
    }
  }

  @Test
  void request_thatNamesAnotherHost_isForbidden() throws IOException {
    assertThat(status("GET", "/", "evil.example")).contains(" 403 ");
    assertThat(status("GET", "/events", "evil.example:" + server.port())).contains(" 403 ");
    assertThat(status("GET", "/", "127.0.0.1:" + server.port())).contains(" 200 ");
    assertThat(status("GET", "/", "[::1]:1")).contains(" 200 ");
    assertThat(status("GET", "/", "[::1]")).contains(" 200 ");
    assertThat(status("GET", "/", "LOCALHOST")).contains(" 200 ");
  }

  @Test
  void requestOfAnotherSite_isForbidden_exceptALink() throws IOException {
    String crossSite = "127.0.0.1\r\nSec-Fetch-Site: cross-site";
    assertThat(status("GET", "/events", crossSite)).contains(" 403 ");
    assertThat(status("GET", "/", crossSite + "\r\nSec-Fetch-Mode: navigate")).contains(" 200 ");
  }

  @Test
  void headOfThePage_isAnswered() throws IOException {
    assertThat(status("HEAD", "/", "127.0.0.1")).contains(" 200 ");
    assertThat(status("HEAD", "/nothing", "127.0.0.1")).contains(" 404 ");
  }

  @Test
  void request_thatWouldWrite_isRefused() throws IOException {
    assertThat(status("POST", "/", "127.0.0.1")).contains(" 405 ");
    assertThat(status("DELETE", "/events", "127.0.0.1")).contains(" 405 ");
    assertThat(status("GET", "/../pom.xml", "127.0.0.1")).contains(" 404 ");
  }

  @Test
  void page_allowsNothingFromOutside() throws IOException {
    try (Socket socket = ask("GET", "/", "127.0.0.1")) {
      BufferedReader in = lines(socket);
      String policy = "";
      for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
        policy =
            line.toLowerCase(Locale.ROOT).startsWith("content-security-policy:") ? line : policy;
      }
      assertThat(policy).contains("default-src 'none'", "script-src 'nonce-").doesNotContain("%s");
    }
  }

  @Test
  void viewer_getsTheStateAndEachNewOne() throws IOException {
    board.show("{\"a\":1}");
    try (Socket socket = ask("GET", "/events", "127.0.0.1")) {
      BufferedReader in = lines(socket);
      awaitLine(in, "X-accel-buffering: no"); // nginx would hold events back.
      awaitLine(in, "data: {\"a\":1}");
      board.show("{\"a\":2}");
      awaitLine(in, "data: {\"a\":2}");
    }
  }

  @Test
  void viewer_thatReadsNothing_losesItsConnection() throws IOException {
    String large = "{\"a\":\"" + "x".repeat(20_000_000) + "\"}";
    board.show(large);
    try (Socket socket = ask("GET", "/events", "127.0.0.1")) {
      assertThat(socket.getInputStream().read()).isEqualTo('H'); // It is a viewer by now.
      await().until(() -> server.viewers() == 0);
      long read = 0;
      byte[] buffer = new byte[100_000];
      try {
        for (int n = 0; n >= 0; n = socket.getInputStream().read(buffer)) {
          read += n;
        }
      } catch (IOException e) {
        // The connection was reset, with what was on its way.
      }
      assertThat(read).isLessThan(large.length());
    }
  }

  @Tag("thorough")
  @Test
  void requestsThatNeverArrive_keepOthersOutForSecondsOnly() throws IOException {
    List<Socket> halves = new ArrayList<>();
    try {
      for (int i = 0; i < 200; i++) {
        Socket half = new Socket(InetAddress.getLoopbackAddress(), server.port());
        half.getOutputStream().write("GET / HT".getBytes(UTF_8));
        halves.add(half);
      }
      await() // Requests that came beside them end with them.
          .atMost(Duration.ofSeconds(40))
          .ignoreExceptions()
          .until(() -> status("GET", "/", "127.0.0.1").contains(" 200 "));
    } finally {
      for (Socket half : halves) {
        half.close();
      }
    }
  }

  private static void awaitLine(BufferedReader in, String wanted) throws IOException {
    String line = in.readLine();
    while (line != null && !line.equals(wanted)) {
      line = in.readLine();
    }
    assertThat(line).isEqualTo(wanted);
  }
}
