package dev.redlock.examples.shop;

import dev.redlock.LockTimeoutException;
import dev.redlock.RedlockException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** What a request gets that did not get its lock: 409 if others have it, 503 otherwise. */
@RestControllerAdvice
class LockErrors {
  private static final Logger log = LoggerFactory.getLogger(LockErrors.class);

  @ExceptionHandler
  ResponseEntity<String> failed(RedlockException failure) {
    if (failure instanceof LockTimeoutException timeout && timeout.isHeld()) {
      return answer(HttpStatus.CONFLICT, "others are buying; try again\n");
    }
    log.warn("{}", failure.getMessage());
    return answer(HttpStatus.SERVICE_UNAVAILABLE, "the shop is closed for a moment\n");
  }

  private static ResponseEntity<String> answer(HttpStatus status, String text) {
    return ResponseEntity.status(status).header(HttpHeaders.RETRY_AFTER, "1").body(text);
  }
}
