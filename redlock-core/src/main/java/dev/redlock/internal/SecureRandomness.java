package dev.redlock.internal;

import dev.redlock.internal.protocol.Randomness;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;

/** Jitter from a fast generator, lease ids from a secure one. */
final class SecureRandomness implements Randomness {
  private static final int ID_BYTES = 20;
  private static final int BATCH = 64;

  private final SecureRandom secure = new SecureRandom();
  private final Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();

  /** Drawn in batches: one call of the generator for many ids. Guarded by this. */
  private final byte[] drawn = new byte[ID_BYTES * BATCH];

  private int used = drawn.length;

  @Override
  public double next() {
    return ThreadLocalRandom.current().nextDouble();
  }

  @Override
  public String leaseId() {
    byte[] id = new byte[ID_BYTES];
    synchronized (this) { // Copies twenty bytes; never waits for anything.
      if (used == drawn.length) {
        secure.nextBytes(drawn);
        used = 0;
      }
      System.arraycopy(drawn, used, id, 0, ID_BYTES);
      java.util.Arrays.fill(drawn, used, used + ID_BYTES, (byte) 0);
      used += ID_BYTES;
    }
    return base64.encodeToString(id);
  }
}
