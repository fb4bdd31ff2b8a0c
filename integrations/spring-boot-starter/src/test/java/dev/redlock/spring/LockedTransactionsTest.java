package dev.redlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.redlock.Redlock;
import dev.redlock.harness.CapturedLog;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code @Locked} methods that are called in a transaction (issue 37). */
@Timeout(60)
class LockedTransactionsTest {
  private static final Duration DEADLINE = MemoryNodes.DEADLINE;
  private static final String BEGAN_BEFORE = "in a transaction that began before the lock";

  private final CapturedLog log = new CapturedLog(Locked.class.getName(), Level.WARN, true);
  private final MemoryNodes nodes = new MemoryNodes();
  private final ApplicationContextRunner app = nodes.app().withBean(Account.class);

  static class Account {
    private final AtomicInteger calls = new AtomicInteger();

    public int calls() {
      return calls.get();
    }

    @Locked("account")
    public void plain() {
      calls.incrementAndGet();
    }

    @Locked("account")
    @Transactional
    public void joining() {
      calls.incrementAndGet();
    }

    @Locked("account")
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void beginning() {
      calls.incrementAndGet();
    }

    @Locked("account")
    public CompletableFuture<Integer> later() {
      return CompletableFuture.completedFuture(calls.incrementAndGet());
    }

    @Locked("account")
    public Mono<Integer> mono() {
      return Mono.fromSupplier(calls::incrementAndGet);
    }

    @Locked("account")
    public Flux<Integer> flux() {
      return Flux.defer(() -> Flux.just(calls.incrementAndGet()));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Transactions {
    @Bean
    PlatformTransactionManager transactions() {
      return new NoTransactions();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(order = 0)
  static class OuterTransactions {
    @Bean
    PlatformTransactionManager transactions() {
      return new NoTransactions();
    }
  }

  static class NoTransactions extends AbstractPlatformTransactionManager {
    private static final long serialVersionUID = 1L;
    private static final ThreadLocal<Integer> DEPTH = ThreadLocal.withInitial(() -> 0);

    @Override
    protected Object doGetTransaction() {
      return this;
    }

    @Override
    protected boolean isExistingTransaction(Object transaction) {
      return DEPTH.get() > 0;
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
      DEPTH.set(DEPTH.get() + 1);
    }

    @Override
    protected Object doSuspend(Object transaction) {
      return this;
    }

    @Override
    protected void doResume(Object transaction, Object suspended) {}

    @Override
    protected void doCommit(DefaultTransactionStatus status) {}

    @Override
    protected void doRollback(DefaultTransactionStatus status) {}

    @Override
    protected void doCleanupAfterCompletion(Object transaction) {
      DEPTH.set(DEPTH.get() - 1);
    }
  }

  @AfterEach
  void stopReadingLog() {
    log.close();
  }

  private void with(Class<?> configuration, BiConsumer<Account, TransactionTemplate> body) {
    with(app, configuration, body);
  }

  private static void with(
      ApplicationContextRunner app,
      Class<?> configuration,
      BiConsumer<Account, TransactionTemplate> body) {
    app.withUserConfiguration(configuration)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              body.accept(
                  context.getBean(Account.class),
                  new TransactionTemplate(context.getBean(PlatformTransactionManager.class)));
            });
  }

  @Test
  void call_inATransactionThatBeganBefore_failsAndDoesNotRun() {
    with(
        Transactions.class,
        (account, transaction) -> {
          assertThatThrownBy(() -> transaction.executeWithoutResult(x -> account.plain()))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("Account.plain")
              .hasMessageContaining(BEGAN_BEFORE)
              .hasMessageContaining("redlock.locked.in-transaction");
          assertThatThrownBy(() -> transaction.executeWithoutResult(x -> account.joining()))
              .hasMessageContaining(BEGAN_BEFORE);
          assertThat(account.calls()).isZero();
          assertThat(nodes.holders("account")).isZero();
        });
  }

  @Test
  void call_whoseTransactionBeginsUnderTheLock_runs() {
    with(
        Transactions.class,
        (account, transaction) -> {
          account.plain();
          account.joining();
          account.beginning();
          transaction.executeWithoutResult(x -> account.beginning());
          transaction.setReadOnly(true);
          transaction.executeWithoutResult(x -> account.plain());
          assertThat(account.calls()).isEqualTo(5);
        });
  }

  @Test
  void call_ofAFuture_inATransactionThatBeganBefore_fails() {
    with(
        Transactions.class,
        (account, transaction) -> {
          assertThatThrownBy(() -> transaction.execute(x -> account.later()))
              .hasMessageContaining(BEGAN_BEFORE);
          assertThat(account.calls()).isZero();
          assertThat(account.later().join()).isOne();
        });
  }

  @Test
  void method_whoseOwnTransactionIsOutsideOfTheLock_fails() {
    with(
        OuterTransactions.class,
        (account, transaction) -> {
          assertThatThrownBy(account::beginning).hasMessageContaining(BEGAN_BEFORE);
          assertThat(account.calls()).isZero();
        });
  }

  @Test
  void policy_warn_runsAndWarnsOnceForEachMethod() {
    with(
        app.withPropertyValues("redlock.locked.in-transaction=warn"),
        Transactions.class,
        (account, transaction) -> {
          for (int i = 0; i < 3; i++) {
            transaction.executeWithoutResult(x -> account.plain());
          }
          assertThat(account.calls()).isEqualTo(3);
          assertThat(log.events()).singleElement().asString().contains(BEGAN_BEFORE);
        });
  }

  @Test
  void policy_allow_runs() {
    with(
        app.withPropertyValues("redlock.locked.in-transaction=allow"),
        Transactions.class,
        (account, transaction) -> {
          transaction.executeWithoutResult(x -> account.plain());
          assertThat(account.calls()).isOne();
          assertThat(log.events()).isEmpty();
        });
  }

  @Test
  void subscription_inATransactionThatBeganBefore_fails() {
    TransactionalOperator reactive = TransactionalOperator.create(new NoReactiveTransactions());
    with(
        Transactions.class,
        (account, transaction) -> {
          assertThatThrownBy(() -> account.mono().as(reactive::transactional).block(DEADLINE))
              .hasMessageContaining(BEGAN_BEFORE);
          assertThatThrownBy(() -> account.flux().as(reactive::transactional).blockLast(DEADLINE))
              .hasMessageContaining(BEGAN_BEFORE);
          assertThat(account.calls()).isZero();
          assertThat(account.mono().block(DEADLINE)).isOne();
          assertThat(account.flux().blockLast(DEADLINE)).isEqualTo(2);
        });
  }

  static class NoReactiveTransactions extends AbstractReactiveTransactionManager {
    private static final long serialVersionUID = 1L;

    @Override
    protected Object doGetTransaction(TransactionSynchronizationManager manager) {
      return this;
    }

    @Override
    protected Mono<Void> doBegin(
        TransactionSynchronizationManager manager, Object transaction, TransactionDefinition x) {
      return Mono.empty();
    }

    @Override
    protected Mono<Void> doCommit(
        TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
      return Mono.empty();
    }

    @Override
    protected Mono<Void> doRollback(
        TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
      return Mono.empty();
    }
  }
}
