package org.crac;

/** Stands in for the library of this name. */
public abstract class Context<R extends Resource> implements Resource {
  public abstract void register(R resource);
}
