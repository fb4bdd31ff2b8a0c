package dev.redlock.testkit;

import java.time.Duration;
import java.util.Optional;

/**
 * A key on a node.
 *
 * @param name the key
 * @param type as TYPE tells it: string, hash, zset, stream, …
 * @param ttl the time it has left; empty if it stays for ever
 */
public record RedisKey(String name, String type, Optional<Duration> ttl) {}
