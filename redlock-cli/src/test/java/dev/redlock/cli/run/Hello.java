package dev.redlock.cli.run;

/** What the start of {@code redlock run} is measured beside. */
final class Hello {
  private Hello() {}

  public static void main(String[] args) {
    System.out.println("hello");
  }
}
