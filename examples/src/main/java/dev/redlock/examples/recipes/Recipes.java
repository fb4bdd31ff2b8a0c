package dev.redlock.examples.recipes;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.examples.fencing.RedisStock;
import dev.redlock.examples.fencing.SqlStock;
import dev.redlock.examples.recipes.GoodsShop.Answer;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxRedlock;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.vertx.core.Vertx;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;

/** The main class behind {@code bin/recipe}: runs one recipe on masters of its own. */
public final class Recipes {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private static final Map<String, Callable<Boolean>> BY_NAME =
      new TreeMap<>(
          Map.of(
              "fenced-sql", Recipes::fencedSql,
              "fenced-redis", Recipes::fencedRedis,
              "once", Recipes::once,
              "per-user", Recipes::perUser,
              "fleet", Recipes::fleet,
              "goods", Recipes::goods,
              "permits", Recipes::permits));

  private Recipes() {}

  /** Exit code 0: the recipe did what its page says; 1: it did not; 2: there is no such recipe. */
  public static void main(String[] args) throws Exception {
    Callable<Boolean> recipe = args.length == 1 ? BY_NAME.get(args[0]) : null;
    if (recipe == null) {
      System.err.println("usage: recipe " + String.join(" | ", BY_NAME.keySet()));
      System.exit(2);
      return;
    }
    boolean passed = recipe.call();
    say("recipe " + args[0] + ": " + (passed ? "PASS" : "FAIL"));
    System.exit(passed ? 0 : 1);
  }

  private static boolean fencedSql() throws Exception {
    SqlStock stock = new SqlStock(database());
    stock.add("coupon", 100);
    return lateWriter(sql(stock));
  }

  static TokenStock sql(SqlStock stock) {
    return new TokenStock() {
      @Override
      public int read(long token) throws Exception {
        return stock.read("coupon", token);
      }

      @Override
      public void write(int left, long token) throws Exception {
        stock.write("coupon", left, token);
      }
    };
  }

  private static boolean fencedRedis() throws Exception {
    try (RedisNodes shop = RedisNodes.start(1);
        RedisClient client = RedisClient.create(shop.uris().get(0))) {
      RedisStock stock = new RedisStock(client.connect().sync(), "coupon");
      stock.fill(100);
      return lateWriter(redis(stock));
    }
  }

  static TokenStock redis(RedisStock stock) {
    return new TokenStock() {
      @Override
      public int read(long token) {
        return stock.read(token);
      }

      @Override
      public void write(int left, long token) {
        stock.sell(left, "sold, " + left + " left", token);
      }
    };
  }

  private static boolean lateWriter(TokenStock stock) throws Exception {
    try (RedisNodes nodes = RedisNodes.start(3);
        Redlock first = Clients.connect(nodes.uris());
        Redlock second = Clients.connect(nodes.uris())) {
      return new LateWriter(first, second, stock, Recipes::say).run();
    }
  }

  private static boolean once() throws Exception {
    JdbcDataSource database = database();
    execute(database, "CREATE TABLE mails (customer INT)");
    try (RedisNodes nodes = RedisNodes.start(3);
        Redlock left = Clients.connect(nodes.uris());
        Redlock right = Clients.connect(nodes.uris())) {
      List<Callable<DailyJob.Outcome>> starts = new ArrayList<>();
      for (Redlock redlock : List.of(left, right, left, right)) {
        DailyJob job = new DailyJob(redlock, database, "invoices", redlock.defaultOptions());
        starts.add(
            () ->
                job.start(
                    "2026-11-22",
                    (transaction, lease) -> {
                      try (Statement statement = transaction.createStatement()) {
                        statement.execute("INSERT INTO mails SELECT X FROM SYSTEM_RANGE(1, 10)");
                      }
                    }));
      }
      List<DailyJob.Outcome> outcomes = inParallel(starts);
      say("four starts in two processes: " + outcomes);
      DailyJob.Outcome again = starts.get(0).call();
      int mails = count(database, "SELECT COUNT(*) FROM mails");
      say("one more start: " + again + "; mails: " + mails + " for 10 customers");
      return mails == 10 && again == DailyJob.Outcome.DONE_BEFORE;
    }
  }

  private static boolean perUser() throws Exception {
    Vertx vertx = Vertx.vertx();
    try (RedisNodes nodes = RedisNodes.start(3)) {
      RacyAccounts accounts = new RacyAccounts(vertx);
      List<Integer> ports = new ArrayList<>();
      for (int i = 0; i < 2; i++) { // Two servers, which share only the masters and the accounts.
        VertxRedlock redlock =
            VertxRedlock.connect(
                    vertx, new RedlockOptions().setNodes(nodes.uris()).setRestartGuard("off"))
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
        ports.add(
            new AccountServer(vertx, redlock, accounts)
                .listen(0)
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS)
                .actualPort());
      }
      HttpClient http = HttpClient.newHttpClient();
      List<CompletableFuture<HttpResponse<String>>> replies = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        URI add =
            URI.create(
                "http://127.0.0.1:" + ports.get(i % 2) + "/users/u" + i % 3 + "/points?add=1");
        replies.add(
            http.sendAsync(
                HttpRequest.newBuilder(add).POST(HttpRequest.BodyPublishers.ofString("")).build(),
                HttpResponse.BodyHandlers.ofString()));
      }
      long accepted = 0;
      for (CompletableFuture<HttpResponse<String>> reply : replies) {
        accepted += reply.get(60, TimeUnit.SECONDS).statusCode() == 200 ? 1 : 0;
      }
      say("60 requests for 3 users at 2 servers: " + accepted + " accepted");
      say("points: " + new TreeMap<>(accounts.points()) + ", in total " + accounts.sum());
      return accepted == 60 && accounts.sum() == 60;
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
  }

  private static boolean fleet() throws Exception {
    LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(2)).build();
    Map<Integer, String> workers = new ConcurrentHashMap<>();
    try (RedisNodes nodes = RedisNodes.start(3);
        Redlock left = Clients.connect(nodes.uris());
        Redlock right = Clients.connect(nodes.uris())) {
      FleetMember first = new FleetMember(left, options, 0, 4, step("first", workers));
      try (FleetMember second = new FleetMember(right, options, 2, 4, step("second", workers))) {
        await(() -> workers.size() == 4);
        say("who works on which partition: " + workers);
        long start = System.nanoTime();
        first.close();
        await(() -> Set.copyOf(workers.values()).equals(Set.of("second")));
        say(
            "the first member stops; the second has all partitions after "
                + (System.nanoTime() - start) / 1_000_000
                + " ms: "
                + workers);
        return second.held() == 4;
      } finally {
        first.close();
      }
    }
  }

  private static FleetMember.Step step(String member, Map<Integer, String> workers) {
    return (partition, lease) -> {
      workers.put(partition, member);
      Thread.sleep(5);
    };
  }

  private static boolean goods() throws Exception {
    try (RedisClusterNodes cluster = RedisClusterNodes.start(3, 0);
        RedisClusterClient client = clusterClient(cluster);
        Redlock redlock =
            Clients.ready(
                Redlock.builder()
                    .nodes(ClusterLockNode.connect(cluster.uris().toArray(String[]::new))))) {
      var redis = client.connect().sync();
      for (int article = 0; article < 5; article++) {
        new RedisStock(redis, "" + article).fill(10);
      }
      GoodsShop shop = new GoodsShop(redlock, redis, 8, Duration.ofSeconds(2));
      List<Callable<Answer>> buyers = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        String article = "" + i % 5;
        String buyer = "buyer " + i;
        buyers.add(() -> shop.buy(article, buyer));
      }
      Map<Answer, Integer> answers = new EnumMap<>(Answer.class);
      inParallel(buyers).forEach(answer -> answers.merge(answer, 1, Integer::sum));
      int booked = 0;
      int left = 0;
      for (int article = 0; article < 5; article++) {
        RedisStock stock = new RedisStock(redis, "" + article);
        booked += stock.book().size();
        left += stock.readUnchecked();
      }
      say("200 buyers, 5 articles with 10 pieces each: " + answers);
      say("booked " + booked + ", left " + left);
      return booked == answers.getOrDefault(Answer.SOLD, 0) && booked + left == 50;
    }
  }

  static RedisClusterClient clusterClient(RedisClusterNodes cluster) {
    return RedisClusterClient.create(cluster.uris().stream().map(RedisURI::create).toList());
  }

  private static boolean permits() throws Exception {
    try (RedisNodes nodes = RedisNodes.start(3);
        Redlock left = Clients.connect(nodes.uris());
        Redlock right = Clients.connect(nodes.uris())) {
      AtomicInteger now = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      List<Callable<Boolean>> callers = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        PermitPool pool = new PermitPool(i % 2 == 0 ? left : right, "mail", 3);
        callers.add(
            () -> {
              try (Lease permit = pool.acquire(WAIT)) {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                Thread.sleep(20);
                now.decrementAndGet();
                return permit.isValid();
              } catch (LockTimeoutException e) {
                return false;
              }
            });
      }
      List<Boolean> served = inParallel(callers);
      say("24 callers of two processes, 3 permits: at most " + most + " at the same time");
      return served.stream().allMatch(got -> got) && most.get() == 3;
    }
  }

  /** A service without transactions: a call takes a moment, and the last write wins. */
  static final class RacyAccounts implements AccountServer.Accounts {
    private final Map<String, Integer> points = new ConcurrentHashMap<>();
    private final Map<String, Long> fences = new ConcurrentHashMap<>();
    private final Vertx vertx;

    RacyAccounts(Vertx vertx) {
      this.vertx = vertx;
    }

    @Override
    public io.vertx.core.Future<Integer> read(String user, long token) {
      return vertx
          .timer(2, TimeUnit.MILLISECONDS)
          .compose(waited -> fenced(user, token, points.getOrDefault(user, 0)));
    }

    @Override
    public io.vertx.core.Future<Void> write(String user, int sum, long token) {
      return vertx
          .timer(2, TimeUnit.MILLISECONDS)
          .compose(waited -> fenced(user, token, null))
          .onSuccess(accepted -> points.put(user, sum))
          .mapEmpty();
    }

    private <T> io.vertx.core.Future<T> fenced(String user, long token, @Nullable T value) {
      return fences.merge(user, token, Math::max) == token
          ? io.vertx.core.Future.succeededFuture(value)
          : io.vertx.core.Future.failedFuture("token " + token + " is too low");
    }

    Map<String, Integer> points() {
      return points;
    }

    int sum() {
      return points.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  static JdbcDataSource database() {
    JdbcDataSource database = new JdbcDataSource();
    database.setURL("jdbc:h2:mem:recipe" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
    return database;
  }

  static void execute(JdbcDataSource database, String statement) throws Exception {
    try (Connection connection = database.getConnection();
        Statement sql = connection.createStatement()) {
      sql.execute(statement);
    }
  }

  static int count(JdbcDataSource database, String query) throws Exception {
    try (Connection connection = database.getConnection();
        Statement sql = connection.createStatement();
        var rows = sql.executeQuery(query)) {
      rows.next();
      return rows.getInt(1);
    }
  }

  /** Runs all tasks at the same time, and returns their results in the same order. */
  static <T> List<T> inParallel(List<Callable<T>> tasks) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> result : threads.invokeAll(tasks)) {
        results.add(result.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + WAIT.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("nothing happened for " + WAIT.toSeconds() + " s");
      }
      Thread.sleep(5);
    }
  }

  private static void say(String line) {
    System.out.println(line);
  }
}
