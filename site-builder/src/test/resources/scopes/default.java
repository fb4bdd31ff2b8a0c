import dev.redlock.*;
import dev.redlock.spi.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;

class Scope {
  Redlock redlock;
  DistributedLock lock;
  List<String> uris;
}
