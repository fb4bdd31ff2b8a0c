package dev.redlock.internal;

import com.google.common.hash.Hashing;
import com.google.common.primitives.Bytes;
import dev.redlock.internal.protocol.Randomness;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Draws jitter from a fast generator, and lease ids from a secure one.
 *
 * <p>The problem: two processes may be copies of one memory image, such as a checkpoint or the
 * snapshot of a virtual machine. Their generators are equal, and both draw the same ids. A node
 * grants a key to the lease id that it stores, so it would grant the lock to both.
 *
 * <p>So each id is combined with the <em>connection part</em>: a hash of what all nodes said about
 * their clocks on the connections of this process. A node executes one probe after another, so it
 * says each microsecond to one connection only, and two processes do not share a connection. The
 * part changes before a new connection is used. The connections of one node are not enough: a copy
 * may reach two nodes of three before it knows that its connection to the first is lost.
 *
 * <p>Until its first new connection, a copy has the part of the original. What it sends then goes
 * to connections that it does not have. But it would undo these attempts later, under ids that the
 * original may use. So each id also contains the monotonic clock: two copies draw the same id only
 * in the same nanosecond since the image.
 *
 * <p>Both are combined by exclusive or with random bits, so an id stays as short and as hard to
 * guess as these.
 */
final class SecureRandomness implements Randomness {
  private static final int ID_BYTES = 20;

  private final String suffix;
  private final SecureRandom secure;
  private final LongSupplier clock;
  private final Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();

  /** The connection part; replaced by each probe. */
  private volatile byte[] part = new byte[ID_BYTES];

  /**
   * @param suffix what follows each lease id: the label of the client
   * @param clock the monotonic clock, in nanoseconds
   */
  SecureRandomness(String suffix, SecureRandom secure, LongSupplier clock) {
    this.suffix = suffix;
    this.secure = secure;
    this.clock = clock;
  }

  @Override
  public double next() {
    return ThreadLocalRandom.current().nextDouble();
  }

  @Override
  public String leaseId() {
    byte[] id = new byte[ID_BYTES];
    secure.nextBytes(id);
    byte[] said = part;
    for (int i = 0; i < ID_BYTES; i++) {
      id[i] ^= said[i];
    }
    ByteBuffer first = ByteBuffer.wrap(id);
    first.putLong(0, first.getLong(0) ^ clock.getAsLong());
    return base64.encodeToString(id).concat(suffix); // A plus sign would allocate a builder too.
  }

  @Override
  public synchronized void probed(int node, long nodeMicros) {
    byte[] read = ByteBuffer.allocate(12).putInt(node).putLong(nodeMicros).array();
    // All earlier connections count too.
    part = Hashing.sha256().hashBytes(Bytes.concat(part, read)).asBytes();
  }
}
