package dev.redlock.internal;

import dev.redlock.internal.text.HolderMark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The label of a client that has no other: {@code host/pid}, behind {@code application@} if the
 * application has a name. Asks no name server, which may take seconds.
 */
final class ProcessLabel {
  private static final int MAX_APPLICATION = 24;

  private ProcessLabel() {}

  static String of(String application) {
    return of(application, host(), ProcessHandle.current().pid());
  }

  static String of(String application, String host, long pid) {
    String name = plain(application);
    name = name.substring(0, Math.min(MAX_APPLICATION, name.length()));
    String before = name.isEmpty() ? "" : name + "@";
    String after = (host.isEmpty() ? "pid-" : "/") + pid;
    String place = plain(host);
    // The end of a host name tells the pods of one deployment apart.
    int room = HolderMark.MAX_LABEL_BYTES - before.length() - after.length();
    return before + place.substring(Math.max(0, place.length() - room)) + after;
  }

  private static String plain(String text) {
    return text.strip().replaceAll("[^!-}]", "_");
  }

  /** Containers set HOSTNAME, Windows COMPUTERNAME, and Linux has the file; else it is empty. */
  private static String host() {
    try {
      for (String variable : new String[] {"HOSTNAME", "COMPUTERNAME"}) {
        String value = System.getenv(variable);
        if (value != null && !value.isBlank()) {
          return value;
        }
      }
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }
}
