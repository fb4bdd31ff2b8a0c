package dev.redlock.cli;

import java.io.Console;
import java.lang.reflect.InvocationTargetException;
import org.jspecify.annotations.Nullable;

/** The terminal, if a person is there. */
public final class Terminal {
  private Terminal() {}

  /** The console; null if standard input or output is a pipe or a file. */
  @SuppressWarnings("SystemConsoleNull") // Null before JDK 22; from then on it says what it is.
  public static @Nullable Console console() {
    Console console = System.console();
    if (console == null) {
      return null;
    }
    try {
      boolean terminal = (boolean) Console.class.getMethod("isTerminal").invoke(console);
      return terminal ? console : null;
    } catch (NoSuchMethodException e) {
      return console; // Before JDK 22.
    } catch (IllegalAccessException | InvocationTargetException e) {
      return null;
    }
  }
}
