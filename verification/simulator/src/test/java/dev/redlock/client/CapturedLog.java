package dev.redlock.client;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.redlock.Redlock;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/** The lines that clients log, from INFO on, until it is closed. */
final class CapturedLog implements AutoCloseable {
  private final Logger log = (Logger) LoggerFactory.getLogger(Redlock.class);
  private final Level before = log.getLevel();
  private final Queue<ILoggingEvent> events = new ConcurrentLinkedQueue<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          events.add(event);
        }
      };

  CapturedLog() {
    appender.start();
    log.setLevel(Level.INFO);
    log.addAppender(appender);
  }

  /** The lines of this level that contain the part. */
  List<String> lines(Level level, String part) {
    return events(level, part).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** The events of this level whose lines contain the part. */
  List<ILoggingEvent> events(Level level, String part) {
    return events.stream()
        .filter(event -> event.getLevel().equals(level))
        .filter(event -> event.getFormattedMessage().contains(part))
        .toList();
  }

  /** Lines with a stack trace. */
  long traces() {
    return events.stream().filter(event -> event.getThrowableProxy() != null).count();
  }

  @Override
  public void close() {
    log.detachAppender(appender);
    log.setLevel(before);
  }
}
