package dev.redlock.examples.demo;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The audit of the shop's book. The book is stored with the stock, so it contains the last sales of
 * a worker that was killed.
 *
 * @param sold the number of sales
 * @param oversold the number of sales of a coupon that was sold before
 * @param stockFits whether the stock fell by one per sale
 * @param tokensRise whether each sale had a higher token than the one before
 */
record Audit(int sold, int oversold, boolean stockFits, boolean tokensRise) {

  /** One line of the book. */
  record Entry(int coupon, int worker, long token) {
    static Entry parse(String line) {
      String[] parts = line.split(" ", 3);
      return new Entry(
          Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
    }

    @Override
    public String toString() {
      return coupon + " " + worker + " " + token;
    }
  }

  static Audit of(List<String> book, int stockAtFirst, int stockAtLast) {
    Set<Integer> coupons = new HashSet<>();
    boolean rising = true;
    long last = -1;
    for (String line : book) {
      Entry entry = Entry.parse(line);
      coupons.add(entry.coupon());
      rising &= entry.token() > last;
      last = entry.token();
    }
    int sold = book.size();
    return new Audit(sold, sold - coupons.size(), stockAtFirst - stockAtLast == sold, rising);
  }
}
