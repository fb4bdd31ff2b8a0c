import dev.redlock.*;
import dev.redlock.lettuce.*;
import dev.redlock.spi.*;
import io.lettuce.core.RedisCredentialsProvider;
import java.util.*;

class Scope {
  List<String> uris;
  RedisCredentialsProvider streamingProvider;
}
