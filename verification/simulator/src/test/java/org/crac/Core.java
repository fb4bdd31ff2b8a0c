package org.crac;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** Stands in for the library of this name: the client uses it by reflection. */
public final class Core {
  private static final Images IMAGES = new Images();

  private Core() {}

  public static Context<Resource> getGlobalContext() {
    return IMAGES;
  }

  /** As before a checkpoint: in the reverse order of registration, as the library does. */
  public static synchronized void checkpoint() throws Exception {
    List<Resource> all = IMAGES.living();
    for (int i = all.size() - 1; i >= 0; i--) {
      all.get(i).beforeCheckpoint(IMAGES);
    }
  }

  public static synchronized void restore() throws Exception {
    for (Resource each : IMAGES.living()) {
      each.afterRestore(IMAGES);
    }
  }

  /** As in a JVM without resources. */
  public static void forgetAll() {
    IMAGES.forgetAll();
  }

  /** How many resources are registered and still alive. */
  public static int count() {
    return IMAGES.living().size();
  }

  /** Not public, and with weak references, as in the library. */
  private static final class Images extends Context<Resource> {
    private final List<WeakReference<Resource>> resources = new ArrayList<>();

    synchronized void forgetAll() {
      resources.clear();
    }

    synchronized List<Resource> living() {
      List<Resource> living = new ArrayList<>();
      for (WeakReference<Resource> each : resources) {
        Resource resource = each.get();
        if (resource != null) {
          living.add(resource);
        }
      }
      return living;
    }

    @Override
    public synchronized void register(Resource resource) {
      resources.add(new WeakReference<>(resource));
    }

    @Override
    public void beforeCheckpoint(Context<? extends Resource> context) {}

    @Override
    public void afterRestore(Context<? extends Resource> context) {}
  }
}
