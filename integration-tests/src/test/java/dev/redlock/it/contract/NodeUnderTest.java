package dev.redlock.it.contract;

import dev.redlock.spi.LockNode;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A server and the ways to look behind a node's back. Keys are whole Redis keys. */
public interface NodeUnderTest {

  /** What not every kind of node can be put through. */
  enum Feature {
    /** Keys of other types may stand where locks do. */
    FOREIGN_TYPES,
    /** Scripts may be forgotten. */
    SCRIPTS,
    /** Tells of released, expired and deleted keys. */
    PUSHES,
    /** Can be killed and started again. */
    CRASHES,
    /** Can be stopped and continued. */
    PAUSES
  }

  /** What this kind of node can be put through. */
  Set<Feature> features();

  /** Another client of the same server, not started yet. */
  LockNode newNode();

  /** The string stored under the key, or null. */
  @Nullable String value(String key);

  /** A field of the hash under the key, byte for byte, or null. */
  @Nullable String field(String key, String field);

  /** How long the key lives: -1 for ever, -2 if there is none. */
  long ttlMillis(String key);

  /** Stores a string; ttl 0 is for ever. */
  void put(String key, String value, long ttlMillis);

  /** Stores a field of a hash, without time to live. */
  void putField(String key, String field, String value);

  /** Stores a list. */
  void putList(String key);

  /** Somebody deletes the key. */
  void delete(String key);

  /** Keys that live for ever, but for the node's marker. */
  List<String> keysWithoutTtl();

  /** Removes everything. */
  void flush();

  /** Forgets the scripts. */
  void forgetScripts();

  /** SIGKILL. */
  void kill();

  /** Starts it again, empty, and returns when it answers. */
  void restart();

  /** SIGSTOP. */
  void pause();

  /** SIGCONT. */
  void resume();

  /** Ends whatever a test has done to it; what it stores need not survive that. */
  default void heal() {
    if (features().contains(Feature.CRASHES)) {
      restart();
    } else if (features().contains(Feature.PAUSES)) {
      resume();
    }
  }
}
