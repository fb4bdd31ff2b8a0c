package dev.redlock.testkit;

import java.time.Duration;
import java.util.Optional;

/**
 * A key on a node.
 *
 * @param name the key
 * @param type as TYPE returns it: string, hash, zset, stream, …
 * @param ttl the remaining time to live; empty if the key never expires
 */
public record RedisKey(String name, String type, Optional<Duration> ttl) {}
