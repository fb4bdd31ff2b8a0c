package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/** The endpoint without {@code redlock.endpoint.break-enabled}. */
@Endpoint(id = "redlock")
class ReadOnlyRedlockEndpoint extends RedlockEndpoint {
  private static final int FORBIDDEN = 403;

  ReadOnlyRedlockEndpoint(Redlock redlock, HeldLeases held) {
    super(redlock, held);
  }

  /** Says which property allows it. */
  @DeleteOperation
  public WebEndpointResponse<Map<String, Object>> refuse(
      @Selector(match = Match.ALL_REMAINING) String... name) {
    return new WebEndpointResponse<>(
        Map.of(
            "name",
            String.join("/", name),
            "error",
            "redlock.endpoint.break-enabled is false: this endpoint does not break locks"),
        FORBIDDEN);
  }
}
