package dev.redlock.examples.recipes;

/** Stock that checks fencing tokens on each read and each write. */
interface TokenStock {
  /** Returns the stock, and rejects lower tokens from now on. */
  int read(long token) throws Exception;

  /** Sets the stock if no higher token was seen. */
  void write(int left, long token) throws Exception;
}
