package dev.redlock.harness.memory;

import dev.redlock.harness.model.NodeModel;
import dev.redlock.it.contract.NodeUnderTest;
import dev.redlock.spi.LockNode;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** The in-memory server for the contract. It is in this package to access its state. */
public final class MemoryServerUnderTest implements NodeUnderTest {
  private static final String FENCE = ":fence";
  private static final String QUEUE = ":1:queue";

  private final InMemoryLockNode first = InMemoryLockNode.create("memory");

  private <T> @Nullable T read(BiFunction<NodeModel, Long, @Nullable T> reader) {
    return first.server.read(reader);
  }

  @Override
  public Set<Feature> features() {
    return Set.of(Feature.INVALIDATIONS, Feature.CRASHES, Feature.PAUSES);
  }

  @Override
  public LockNode newNode() {
    return first.another();
  }

  @Override
  public @Nullable String value(String key) {
    return read((model, now) -> model.owner(key, now));
  }

  @Override
  public @Nullable String field(String key, String field) {
    String lockKey = key.substring(0, key.length() - FENCE.length());
    Long value =
        read(
            (model, now) ->
                field.equals("fence") ? model.fence(lockKey, now) : model.ended(lockKey, now));
    return value == null || value == 0 ? null : Long.toString(value);
  }

  @Override
  public long ttlMillis(String key) {
    Long left =
        read(
            (model, now) -> {
              long until =
                  key.endsWith(FENCE)
                      ? model.fenceExpiresMillis(key.substring(0, key.length() - FENCE.length()))
                      : key.endsWith(QUEUE)
                          ? model.queueExpiresMillis(
                              key.substring(0, key.length() - QUEUE.length()))
                          : model.expiresMillis(key);
              return until == 0 ? -2 : until == Long.MAX_VALUE ? -1 : until - now / 1000;
            });
    return left == null ? -2 : left;
  }

  @Override
  public void put(String key, String value, long ttlMillis) {
    read(
        (model, now) -> {
          model.putForeign(key, value);
          if (ttlMillis > 0) {
            model.expireAt(key, now / 1000 + ttlMillis);
          }
          return null;
        });
  }

  @Override
  public void putField(String key, String field, String value) {
    throw new UnsupportedOperationException("the model has no fields but its own");
  }

  @Override
  public void putList(String key) {
    throw new UnsupportedOperationException("the model has no lists");
  }

  @Override
  public void delete(String key) {
    read(
        (model, now) -> {
          if (key.endsWith(FENCE)) {
            model.deleteFence(key.substring(0, key.length() - FENCE.length()));
          } else {
            model.delete(key);
          }
          return null;
        });
    first.server.deliverAll();
  }

  @Override
  public List<String> keysWithoutTtl() {
    return List.of();
  }

  @Override
  public void flush() {
    first.flush();
  }

  @Override
  public void forgetScripts() {
    throw new UnsupportedOperationException("the model has no scripts to forget");
  }

  @Override
  public void kill() {
    first.kill();
  }

  @Override
  public void restart() {
    first.restartEmpty();
  }

  @Override
  public void pause() {
    first.hang();
  }

  @Override
  public void resume() {
    first.resume();
  }
}
