package dev.redlock.it.failures;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Redis servers whose wall clock can be stepped. A preloaded library adds an offset from shared
 * memory to their time. Needs a C compiler and a dynamically linked redis-server; the one from the
 * Maven dependency is linked statically.
 */
final class ClockShim {
  private static final String SOURCE =
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <fcntl.h>
      #include <stdint.h>
      #include <stdlib.h>
      #include <sys/mman.h>
      #include <sys/time.h>
      #include <time.h>
      #include <unistd.h>
      static volatile int64_t none = 0, *offset_us = 0;
      static int64_t offset(void) {
        if (!offset_us) {
          const char *path = getenv("REDLOCK_CLOCK");
          int fd = path ? open(path, O_RDONLY) : -1;
          void *shared = fd < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
          offset_us = shared == MAP_FAILED ? &none : (volatile int64_t *)shared;
          if (fd >= 0) close(fd);
        }
        return *offset_us;
      }
      int clock_gettime(clockid_t id, struct timespec *ts) {
        static int (*real)(clockid_t, struct timespec *);
        if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
        int rc = real(id, ts);
        if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
          int64_t us = (int64_t)ts->tv_sec * 1000000 + ts->tv_nsec / 1000 + offset();
          ts->tv_sec = us / 1000000;
          ts->tv_nsec = us % 1000000 * 1000 + ts->tv_nsec % 1000;
        }
        return rc;
      }
      int gettimeofday(struct timeval *tv, void *tz) {
        (void)tz;
        struct timespec ts;
        int rc = clock_gettime(CLOCK_REALTIME, &ts);
        tv->tv_sec = ts.tv_sec;
        tv->tv_usec = ts.tv_nsec / 1000;
        return rc;
      }
      time_t time(time_t *out) {
        struct timespec ts;
        clock_gettime(CLOCK_REALTIME, &ts);
        if (out) *out = ts.tv_sec;
        return ts.tv_sec;
      }
      """;

  private final Path directory;

  private ClockShim(Path directory) {
    this.directory = directory;
  }

  /**
   * Compiles the shim into this directory; empty if that is not possible, with the reason on
   * standard output.
   */
  static Optional<ClockShim> compile(Path directory) {
    Path server = onPath("redis-server");
    String why = null;
    try {
      Files.createDirectories(directory);
      Path source = Files.writeString(directory.resolve("shim.c"), SOURCE);
      Path library = directory.resolve("shim.so");
      if (server == null) {
        why = "no redis-server on the PATH";
      } else if (run("gcc", "-O2", "-shared", "-fPIC", "-o", "" + library, "" + source, "-ldl")
          != 0) {
        why = "no gcc that compiles it";
      } else {
        Path script = directory.resolve("redis-server-with-a-clock");
        Files.writeString(
            script,
            """
            #!/bin/sh
            port=none
            for word in "$@"; do
              [ "$before" = --port ] && port=$word
              before=$word
            done
            REDLOCK_CLOCK=%1$s/clock-$port
            [ -e "$REDLOCK_CLOCK" ] || head -c 8 /dev/zero >"$REDLOCK_CLOCK"
            export REDLOCK_CLOCK LD_PRELOAD=%1$s/shim.so
            exec %2$s "$@"
            """
                .formatted(directory.toAbsolutePath(), server));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        if (run(script.toString(), "--version") != 0) {
          why = server + " does not run with it";
        }
      }
    } catch (IOException e) {
      why = e.toString();
    }
    if (why != null) {
      System.out.println("failures: clocks cannot be stepped (" + why + "): keys expire early");
      return Optional.empty();
    }
    return Optional.of(new ClockShim(directory));
  }

  /** The program that starts the nodes. */
  Path server() {
    return directory.resolve("redis-server-with-a-clock");
  }

  /** Sets the offset of this node's wall clock. */
  void set(int port, long offsetMicros) {
    try (RandomAccessFile file =
        new RandomAccessFile(directory.resolve("clock-" + port).toFile(), "rw")) {
      byte[] bytes =
          ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(offsetMicros).array();
      file.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path onPath(String program) {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      Path candidate = Path.of(folder, program);
      if (Files.isExecutable(candidate)) {
        return candidate;
      }
    }
    return null;
  }

  private static int run(String... command) throws IOException {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return -1;
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return -1;
    }
  }
}
