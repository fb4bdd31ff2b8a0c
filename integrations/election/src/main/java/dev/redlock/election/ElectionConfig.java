package dev.redlock.election;

import dev.redlock.LockOptions;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The validated options of one election.
 *
 * @param liveness the probe before each extension; null if the lease is extended without one
 */
record ElectionConfig(
    String name,
    LockOptions options,
    Duration stopMargin,
    Duration stopTimeout,
    Duration retryPause,
    @Nullable Supplier<? extends CompletionStage<?>> liveness) {}
