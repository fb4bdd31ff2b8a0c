import dev.redlock.*;
import dev.redlock.lettuce.*;
import dev.redlock.spi.*;
import io.lettuce.core.SslOptions;
import java.io.File;
import java.time.Duration;
import java.util.*;

class Scope {
  List<String> uris;
  Redlock redlock;
}
