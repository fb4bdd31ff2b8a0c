package org.crac;

/** Stands in for the library of this name. */
public interface Resource {
  void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

  void afterRestore(Context<? extends Resource> context) throws Exception;
}
