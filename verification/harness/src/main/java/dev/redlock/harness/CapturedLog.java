package dev.redlock.harness;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/** Captures what the library, or another logger, logs until it is closed. Safe from any thread. */
public final class CapturedLog implements AutoCloseable {
  private final Logger logger;
  private final Level before;
  private final Queue<ILoggingEvent> events = new ConcurrentLinkedQueue<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          event.prepareForDeferredProcessing();
          events.add(event);
        }
      };

  /**
   * @param level the lowest captured level
   * @param printed whether the messages also go to the usual appenders
   */
  public CapturedLog(Level level, boolean printed) {
    this("dev.redlock", level, printed);
  }

  /** The same for the logger of this name and those below it. */
  public CapturedLog(String name, Level level, boolean printed) {
    logger = (Logger) LoggerFactory.getLogger(name);
    before = logger.getLevel();
    appender.start();
    logger.setLevel(level);
    logger.setAdditive(printed);
    logger.addAppender(appender);
  }

  /** From INFO on, also printed. */
  public CapturedLog() {
    this(Level.INFO, true);
  }

  public Stream<ILoggingEvent> events() {
    return events.stream();
  }

  /** The messages of this level or above. */
  public Stream<String> messages(Level least) {
    return events()
        .filter(event -> event.getLevel().isGreaterOrEqual(least))
        .map(ILoggingEvent::getFormattedMessage);
  }

  /** The lines of this level that contain the part. */
  public List<String> lines(Level level, String part) {
    return events(level, part).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** The events of this level whose lines contain the part. */
  public List<ILoggingEvent> events(Level level, String part) {
    return events()
        .filter(event -> event.getLevel().equals(level))
        .filter(event -> event.getFormattedMessage().contains(part))
        .toList();
  }

  /** Lines with a stack trace. */
  public long traces() {
    return events().filter(event -> event.getThrowableProxy() != null).count();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setAdditive(true);
    logger.setLevel(before);
  }
}
