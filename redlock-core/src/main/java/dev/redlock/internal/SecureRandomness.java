package dev.redlock.internal;

import dev.redlock.internal.protocol.Randomness;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;

/** Draws jitter from a fast generator, and lease ids from a secure one. */
final class SecureRandomness implements Randomness {
  private static final int ID_BYTES = 20;
  private static final int BATCH = 64;

  private final String suffix;
  private final SecureRandom secure = new SecureRandom();
  private final Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();

  /** The next 64 ids: one call of the generator draws them all. Guarded by this. */
  private final byte[] drawn = new byte[ID_BYTES * BATCH];

  private int used = drawn.length;

  /**
   * @param suffix what follows each lease id: the label of the client
   */
  SecureRandomness(String suffix) {
    this.suffix = suffix;
  }

  @Override
  public double next() {
    return ThreadLocalRandom.current().nextDouble();
  }

  @Override
  public String leaseId() {
    byte[] id = new byte[ID_BYTES];
    synchronized (this) { // Copies 20 bytes; never waits.
      if (used == drawn.length) {
        secure.nextBytes(drawn);
        used = 0;
      }
      System.arraycopy(drawn, used, id, 0, ID_BYTES);
      Arrays.fill(drawn, used, used + ID_BYTES, (byte) 0);
      used += ID_BYTES;
    }
    String secret = base64.encodeToString(id);
    return suffix.isEmpty() ? secret : secret + suffix;
  }
}
