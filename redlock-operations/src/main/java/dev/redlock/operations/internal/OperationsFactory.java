package dev.redlock.operations.internal;

import dev.redlock.internal.operations.OperatorClient;

/** Makes the operators' side of a client. Core finds it as a service. */
public final class OperationsFactory implements OperatorClient.Factory {
  /** For {@link java.util.ServiceLoader}. */
  public OperationsFactory() {}

  @Override
  public OperatorClient.Side side(OperatorClient client) {
    return new ClientOperations(client);
  }
}
