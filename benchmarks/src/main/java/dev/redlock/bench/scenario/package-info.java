/**
 * The scenarios, one class each. The aims, and the results of {@code docs/benchmarks/results.txt};
 * values that miss the aim are in bold:
 *
 * <ul>
 *   <li>{@code uncontended} p50 ≤ 1.10 × floor, p99 ≤ 1.25 ×: 1.00, 0.93
 *   <li>p50 ≤ 1.25 × {@code bare}, p99 ≤ 1.5 ×: 1.17, 1.31
 *   <li>p50 ≤ 1.2 × node-redlock: <b>1.83</b>
 *   <li>processor time of the client per pair ≤ 1.2 × {@code bare}: 1.10, in {@code throughput} 1.04
 *   <li>p50 ≥ 4 × faster than {@code RedissonRedLock}: <b>3.95</b>
 *   <li>with {@code redlock-micrometer}: pairs per second ≥ 0.95 × those without: <b>0.94</b> in {@code uncontended}, 1.00 in {@code throughput}
 *   <li>{@code throughput} at 256 in flight ≥ 0.90 × floor: 1.05
 *   <li>≥ 0.9 × {@code bare}: <b>0.52</b>
 *   <li>≥ 10 × {@code RedissonRedLock} at its best: <b>6.4</b>
 *   <li>{@code scripts}: a pair ≤ 12.5 µs of the commands' time, on the distribution's server: 11.8 ({@code JAVA_OPTS=-Dredlock.redis=path bin/bench quick scripts})
 *   <li>{@code contended-local}: a section ≤ 1.3 × the floor's round, ≥ 10 × {@code RedissonRedLock}: 0.18, 33
 *   <li>{@code hung} p50 ≤ 1.15 × healthy (one and two of five), p99 ≤ 2 ×: 0.95 and 1.04, p99 1.17 and 1.33; Redisson 9.1 s per pair
 *   <li>the same of {@code killed}: 0.90 and 1.00, p99 1.04 and 1.74
 *   <li>{@code waiters}: commands and threads do not grow with 10, 1,000, 10,000: 0, 17, 17 commands per second; −1 thread each
 *   <li>drain ≥ 0.7 × floor's rounds: <b>0.46</b> with ten, 11 with 1,000, 10 with 10,000
 *   <li>{@code held}: ≤ 1 command per node and extension, none lost: 1.00 with 100, 1,000 and 100,000 leases ({@code bin/bench quick held})
 *   <li>{@code collision}: ten clients settle within 3 rounds of that load: 1.8
 *   <li>{@code distance}: acquire ≤ 1.10 round trips of 10 ms, with one node 20 times farther away too: 1.04, 1.03
 *   <li>hand-over p50 ≤ 2.3 round trips, p95 ≤ 3.3: 2.11, 2.17
 *   <li>{@code collide-2} ≤ 3.5 round trips (median), {@code collide-5} ≤ 10: 3.18, 9.56
 *   <li>{@code crowd}: executed commands per grant with 5 clients ≤ 90; with 100 and 300 ≤ 1.15 × that: 76; 1.00 ×, 1.00 ×
 *   <li>fair mode with 5, 20, 100, 300 clients ≤ 1.3 × the default: 0.99 to 1.00 ×; no grant overtook a caller
 *   <li>{@code crowd-dead-…}: a free lock is acquired in ≤ 1 s behind 100 dead processes, and behind 300 in ≤ 3 × the time of 10: 0.36 s and 1.2 ×, fair mode 0.66 s and 1.5 × ({@code bin/bench quick crowd})
 *   <li>hand-over p50 with 300 clients ≤ 1.5 × the value with 5: 1.06 ×
 *   <li>{@code contended-processes} ≥ 15 × {@code RedissonRedLock}, ≥ 4 × {@code RLock} on one node: <b>12.7</b>, 4.3
 *   <li>commands per section ≤ 1/3 of {@code RedissonRedLock}: requests 0.14, executed 0.20
 *   <li>unluckiest process ≥ half of its share: 0.95; fair mode 1.00
 * </ul>
 */
@NullMarked
package dev.redlock.bench.scenario;

import org.jspecify.annotations.NullMarked;
