import dev.redlock.*;
import dev.redlock.cluster.*;
import dev.redlock.spi.*;
import java.time.Duration;
import java.util.*;

class Scope {
  Redlock redlock;
}
