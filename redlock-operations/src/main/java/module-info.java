/** The methods of a client for operators. Core finds them as a service. */
module dev.redlock.operations {
  requires dev.redlock.core;
  requires com.google.common;

  provides dev.redlock.internal.operations.OperatorClient.Factory with
      dev.redlock.operations.internal.OperationsFactory;
}
