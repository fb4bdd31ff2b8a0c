package dev.redlock.examples.tutorial;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** The main class behind {@code bin/tutorial}. */
public final class Tutorial {
  private final List<Callable<Boolean>> steps;
  private final Consumer<String> out;

  Tutorial(List<Callable<Boolean>> steps, Consumer<String> out) {
    this.steps = List.copyOf(steps);
    this.out = out;
  }

  /**
   * Exit code 0: the steps went as their page describes; 1: one did not; 2: there is no such step.
   */
  public static void main(String[] args) throws Exception {
    Steps steps = new Steps(System.out::println);
    Tutorial tutorial =
        new Tutorial(
            List.of(
                steps::noExpiry,
                steps::noOwner,
                steps::oneMaster,
                steps::noDrift,
                steps::noToken,
                steps::library),
            System.out::println);
    System.exit(tutorial.run(args));
  }

  /**
   * Runs the step whose number is the only argument, or all steps in their order if there is no
   * argument. A step that does not go as told does not stop those after it.
   *
   * @return the exit code
   */
  int run(String... args) throws Exception {
    if (args.length == 0) {
      boolean asTold = true;
      for (int number : IntStream.rangeClosed(1, steps.size()).toArray()) {
        out.accept((number == 1 ? "" : "\n") + "Step " + number);
        asTold &= step(number);
      }
      return asTold ? 0 : 1;
    }
    if (args.length != 1 || !args[0].matches("[1-" + steps.size() + "]")) {
      out.accept(
          "usage: tutorial [STEP], and STEP is a number from 1 to "
              + steps.size()
              + ", not: "
              + String.join(" ", args));
      return 2;
    }
    return step(Integer.parseInt(args[0])) ? 0 : 1;
  }

  private boolean step(int number) throws Exception {
    boolean asTold = steps.get(number - 1).call();
    out.accept("tutorial " + number + ": " + (asTold ? "as told" : "NOT AS TOLD"));
    return asTold;
  }
}
