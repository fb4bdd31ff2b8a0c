package dev.redlock.it.failures;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisReplyException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/** Ways in which a real master comes to reply with an error to every request of locks. */
enum Erring {
  /** The memory is full, and the policy is noeviction. */
  OOM("OOM") {
    @Override
    Runnable begin(RedisNode node) {
      node.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
      node.command("CONFIG", "SET", "maxmemory", "1");
      return () -> node.command("CONFIG", "SET", "maxmemory", "0");
    }
  },
  /** The master could not save its last snapshot, because a directory has the name of the file. */
  MISCONF("MISCONF") {
    @Override
    Runnable begin(RedisNode node) {
      Path dir = Path.of(((List<?>) node.command("CONFIG", "GET", "dir")).get(1).toString());
      Path file =
          dir.resolve(((List<?>) node.command("CONFIG", "GET", "dbfilename")).get(1).toString());
      String before = ((List<?>) node.command("CONFIG", "GET", "save")).get(1).toString();
      try {
        Files.deleteIfExists(file);
        Files.createDirectory(file);
        Files.createFile(file.resolve("in-the-way"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      node.command("CONFIG", "SET", "save", "3600 1000000000");
      quietly(() -> node.command("BGSAVE"));
      return () -> {
        node.command("CONFIG", "SET", "save", before);
        try {
          Files.deleteIfExists(file.resolve("in-the-way"));
          Files.deleteIfExists(file);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      };
    }
  },
  /** The user has lost the permission to run scripts. */
  NOPERM("NOPERM") {
    @Override
    Runnable begin(RedisNode node) {
      node.command("ACL", "SETUSER", "default", "-evalsha", "-eval");
      return () -> node.command("ACL", "SETUSER", "default", "+@all");
    }
  },
  /** It reloads its data set, slowly. */
  LOADING("LOADING") {
    @Override
    Runnable begin(RedisNode node) {
      node.command("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
      node.command("CONFIG", "SET", "key-load-delay", "2000");
      inBackground(node, "DEBUG", "RELOAD");
      return () -> node.command("CONFIG", "SET", "key-load-delay", "0");
    }
  },
  /** Another client's script runs without end. */
  BUSY("BUSY") {
    @Override
    Runnable begin(RedisNode node) {
      node.command("CONFIG", "SET", "lua-time-limit", "5");
      inBackground(node, "EVAL", "while true do end", "0");
      return () -> quietly(() -> node.command("SCRIPT", "KILL"));
    }
  },
  /** It has too few replicas to accept writes. */
  NOREPLICAS("NOREPLICAS") {
    @Override
    Runnable begin(RedisNode node) {
      node.command("CONFIG", "SET", "min-replicas-to-write", "1");
      return () -> node.command("CONFIG", "SET", "min-replicas-to-write", "0");
    }
  },
  /** It became a replica of a master that does not exist. It keeps its keys. */
  READONLY("READONLY") {
    @Override
    Runnable begin(RedisNode node) {
      node.command("REPLICAOF", "127.0.0.1", "1");
      return () -> node.command("REPLICAOF", "NO", "ONE");
    }
  };

  private final String answer;

  Erring(String answer) {
    this.answer = answer;
  }

  String answer() {
    return answer;
  }

  /** Starts the errors; the returned handle ends them. */
  abstract Runnable begin(RedisNode node);

  /**
   * The same while other faults may hit the same master. The returned handle retries until the
   * master executes it, and returns at once.
   */
  Runnable beginWhateverElseComes(RedisNode node) {
    Runnable end = begin(node);
    return () -> {
      Thread thread = new Thread(() -> untilHeard(end), "ends " + this);
      thread.setDaemon(true);
      thread.start();
    };
  }

  private static void untilHeard(Runnable end) {
    for (int tries = 0; tries < 100; tries++) {
      try {
        end.run();
        return;
      } catch (RuntimeException e) { // The master is stopped or starting.
        LockSupport.parkNanos(200_000_000);
      }
    }
  }

  private static void inBackground(RedisNode node, String... command) {
    CompletableFuture.runAsync(() -> node.command(command)).exceptionally(e -> null);
  }

  private static void quietly(Runnable command) {
    try {
      command.run();
    } catch (RedisReplyException e) {
      // Its script had ended, or it is saving a snapshot already.
    }
  }
}
