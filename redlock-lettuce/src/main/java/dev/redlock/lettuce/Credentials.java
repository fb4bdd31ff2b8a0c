package dev.redlock.lettuce;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * What a connection logs in with. Its text does not contain the password.
 *
 * @param username the user; null for the default user of the server
 * @param password the password or token; the client copies it when it gets it
 */
@SuppressWarnings("ArrayRecordComponent") // Unlike a text, it can be overwritten.
public record Credentials(@Nullable String username, char[] password) {
  public Credentials {
    requireNonNull(password, "password");
  }
}
