// node-redlock under the loads of the Java systems. Started by NodeContender with the masters'
// addresses; takes one load per line, answers each with one line, ends with its standard input.
//
//   in   workers shared names milliseconds maxPairs
//   out  pairs nanos overlaps failures|pairs of each worker|latency:count …|wait:count …|gap:count …
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const Redis = require("ioredis");
// Its ES module entry cannot be loaded by name on current Node versions; the other one can.
const Redlock = require("redlock").default;

const clients = process.argv.slice(2).map((uri) => new Redis(uri));
const TTL = 30_000;
const redlock = new Redlock(clients, { retryCount: -1, driftFactor: 0.01 });
redlock.on("error", () => {});
clients.forEach((client) => client.on("error", () => {}));

const now = () => Number(process.hrtime.bigint());

class Counts {
  constructor() {
    this.map = new Map();
  }
  add(nanos) {
    // A thousandth, as the histograms of the others.
    const step = nanos < 1e6 ? 100 : 10 ** Math.floor(Math.log10(nanos) - 3);
    const key = Math.round(nanos / step) * step;
    this.map.set(key, (this.map.get(key) ?? 0) + 1);
  }
  toString() {
    return [...this.map].map(([key, count]) => `${Math.round(key)}:${count}`).join(" ");
  }
}

async function drive([workers, shared, names, millis, maxPairs]) {
  const pairs = new Counts(), waits = new Counts(), gaps = new Counts();
  const perWorker = new Array(workers).fill(0);
  let overlaps = 0, failures = 0, holders = 0, released = 0;
  const start = now();
  const work = async (worker) => {
    let turn = 0;
    for (let asked = now(); asked - start < millis * 1e6 && turn < maxPairs; turn++) {
      try {
        const name = shared ? "node:shared" : `node:w${worker}-${turn % names}`;
        const lock = await redlock.acquire([name], TTL);
        const granted = now();
        if (shared) {
          if (++holders !== 1) overlaps++;
          if (released) gaps.add(Math.max(0, granted - released));
          holders--;
          released = now();
        }
        await lock.release();
        const done = now();
        pairs.add(done - asked);
        waits.add(granted - asked);
        perWorker[worker]++;
        asked = done;
      } catch (e) {
        failures++;
        asked = now();
      }
    }
  };
  await Promise.all(perWorker.map((_, worker) => work(worker)));
  const sum = perWorker.reduce((a, b) => a + b, 0);
  return `${sum} ${now() - start} ${overlaps} ${failures}|${perWorker.join(" ")}|${pairs}|${waits}|${gaps}`;
}

await Promise.all(clients.map((client) => client.ping()));
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  console.log(await drive(line.split(" ").map(Number)));
}
process.exit(0);
