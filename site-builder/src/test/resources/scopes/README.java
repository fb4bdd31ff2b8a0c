import dev.redlock.*;
import java.time.Duration;
import java.util.function.*;

class Scope {
  interface Stock {
    int read(String item, long token);

    void write(String item, int amount, long token);
  }

  Stock stock;
  DistributedLock lock;
  Consumer<LeaseEnd> told;
}
