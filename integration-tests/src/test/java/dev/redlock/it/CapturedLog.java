package dev.redlock.it;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/** What the library logs from now on until it is closed; any thread may add to it. */
public final class CapturedLog implements AutoCloseable {
  private final Logger logger = (Logger) LoggerFactory.getLogger("dev.redlock");
  private final Level before = logger.getLevel();
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
   * @param level the least that is logged
   * @param printed whether it goes to where it went before as well
   */
  public CapturedLog(Level level, boolean printed) {
    appender.start();
    logger.setLevel(level);
    logger.setAdditive(printed);
    logger.addAppender(appender);
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

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setAdditive(true);
    logger.setLevel(before);
  }
}
