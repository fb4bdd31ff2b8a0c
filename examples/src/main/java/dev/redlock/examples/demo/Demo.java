package dev.redlock.examples.demo;

import dev.redlock.testkit.RedisStartException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The main class behind {@code ./demo}. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Three processes sell coupons from one stock, under a lock on five Redis masters.",
      "Meanwhile the demo kills and pauses masters, and the process that holds the lock.",
      "Prints a verdict. Exit code 0 if no coupon was sold twice and all checks passed."
    })
public final class Demo implements Callable<Integer> {
  private static final int SECONDS = 30;
  private static final int SECONDS_WITHOUT_LOCK = 6;

  @Option(names = "--no-lock", description = "the control: sell without the lock, which oversells")
  private boolean withoutLock;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "duration of the sales in seconds (default: 30, without the lock 6)")
  private @Nullable Integer seconds;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "file for the picture (default: timeline.html, without the lock timeline-no-lock.html)")
  private @Nullable Path out;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "seed that selects the targets of the faults (default: random)")
  private @Nullable Long seed;

  @Spec private CommandLine.Model.@Nullable CommandSpec spec;

  /** Runs the demo and exits with its code. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Demo()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    Plan plan = plan();
    if (System.getProperty("redlock.redis.uris") != null) {
      // The demo kills its masters, and needs a sixth server for the stock.
      throw usage("the demo starts its own masters; -Dredlock.redis.uris is not supported");
    }
    Verdict verdict;
    try (CouponShop shop = new CouponShop(plan)) {
      verdict = shop.run();
    } catch (RedisStartException e) {
      CouponShop.say("demo: FAIL no Redis: " + e.getMessage());
      return 1;
    }
    verdict.complaints().forEach(complaint -> CouponShop.say("demo: " + complaint));
    CouponShop.say(verdict.line());
    return verdict.exitCode();
  }

  /** The settings that the options describe. */
  Plan plan() {
    int least = withoutLock ? 2 : Plan.LEAST_SECONDS;
    int usual = withoutLock ? SECONDS_WITHOUT_LOCK : SECONDS;
    int length = seconds == null ? usual : seconds;
    if (length < least || length > 600) {
      throw usage("--seconds " + length + " must be between " + least + " and 600");
    }
    long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1_000_000) : seed;
    Path usualPage = Path.of(withoutLock ? "timeline-no-lock.html" : "timeline.html");
    Path page = out == null ? usualPage : out;
    return new Plan(!withoutLock, Duration.ofSeconds(length), chosen, page.toAbsolutePath());
  }

  private RuntimeException usage(String message) {
    return spec == null
        ? new IllegalArgumentException(message)
        : new ParameterException(spec.commandLine(), message);
  }
}
