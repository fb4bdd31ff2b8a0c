package dev.redlock.simulation;

import java.io.PrintWriter;

/** Stub. */
final class Collisions {
  private Collisions() {}

  static void print(PrintWriter out) {
    out.println("later");
  }
}
