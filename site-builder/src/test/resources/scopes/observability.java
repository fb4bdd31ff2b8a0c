import dev.redlock.*;
import dev.redlock.micrometer.*;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.*;

class Scope {
  Redlock redlock;
  String[] uris;
  MeterRegistry registry;
  ObservationRegistry observationRegistry;
}
