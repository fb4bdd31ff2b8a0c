package dev.redlock.exhaustive;

import java.util.Arrays;

/** A set of numbers in insertion order; each has the index of the number that led to it. */
final class LongSet {
  private long[] values = new long[1 << 10];
  private int[] parents = new int[1 << 10];
  private int[] slots = new int[1 << 12];
  private int size;

  int size() {
    return size;
  }

  long get(int index) {
    return values[index];
  }

  int parent(int index) {
    return parents[index];
  }

  /** Adds the value; returns whether it is new. */
  boolean add(long value, int parent) {
    int slot = slot(value);
    if (slots[slot] != 0) {
      return false;
    }
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
      parents = Arrays.copyOf(parents, 2 * size);
    }
    values[size] = value;
    parents[size] = parent;
    size++;
    slots[slot] = size;
    if (2 * size > slots.length) {
      slots = new int[2 * slots.length];
      for (int i = 0; i < size; i++) {
        slots[slot(values[i])] = i + 1;
      }
    }
    return true;
  }

  /** The slot of the value, or the free slot for it. */
  private int slot(long value) {
    int mask = slots.length - 1;
    long hash = value * 0x9E3779B97F4A7C15L;
    int i = (int) (hash >>> 32) & mask;
    while (slots[i] != 0 && values[slots[i] - 1] != value) {
      i = (i + 1) & mask;
    }
    return i;
  }
}
