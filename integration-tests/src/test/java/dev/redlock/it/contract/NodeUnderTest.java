package dev.redlock.it.contract;

import dev.redlock.spi.LockNode;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A server, with methods that read and change its data directly. Keys are complete Redis keys. */
public interface NodeUnderTest {

  /** Features that not every kind of node has. */
  enum Feature {
    /** Lock keys may hold other types. */
    FOREIGN_TYPES,
    /** Scripts may be forgotten. */
    SCRIPTS,
    /** Sends invalidations of released, expired and deleted keys. */
    INVALIDATIONS,
    /** Can be killed and started again. */
    CRASHES,
    /** Can be stopped and continued. */
    PAUSES
  }

  /** The features of this kind of node. */
  Set<Feature> features();

  /** Another client of the same server, not started yet. */
  LockNode newNode();

  /** The key under which the server stores the given key of this class. */
  default String stored(String key) {
    return key;
  }

  /** The string stored under the key, or null. */
  @Nullable String value(String key);

  /** A field of the hash under the key, byte for byte, or null. */
  @Nullable String field(String key, String field);

  /** The remaining time to live in ms: -1 if it never expires, -2 if there is no such key. */
  long ttlMillis(String key);

  /** Stores a string; ttl 0 means no expiry. */
  void put(String key, String value, long ttlMillis);

  /** Stores a field of a hash, without time to live. */
  void putField(String key, String field, String value);

  /** Stores a list. */
  void putList(String key);

  /** Deletes the key. */
  void delete(String key);

  /** The keys without a time to live, except the node's marker. */
  List<String> keysWithoutTtl();

  /** Removes everything. */
  void flush();

  /** Forgets the scripts. */
  void forgetScripts();

  /** SIGKILL. */
  void kill();

  /** Restarts it, empty. When this returns, it replies to commands. */
  void restart();

  /** SIGSTOP. */
  void pause();

  /** SIGCONT. */
  void resume();

  /** Ends the faults of a test. The data may be lost. */
  default void endFaults() {
    if (features().contains(Feature.CRASHES)) {
      restart();
    } else if (features().contains(Feature.PAUSES)) {
      resume();
    }
  }
}
