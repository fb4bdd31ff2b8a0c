// Runs node-redlock under the loads of the Java systems. NodeProcess starts it with the number of clients and
// the addresses of the masters. It reads one order per line, and ends when standard input ends.
//
//   in   pairs workers shared names milliseconds maxPairs
//   out  pairs nanos overlaps failures|pairs of each worker|latency:count …|wait:count …|gap:count …
//
//   in   compete clients threads names holdNanos pauseNanos warmUp grants milliseconds
//        handOver rounds milliseconds pauseNanos
//        collide rounds milliseconds pauseNanos clients
//   out  "edge" at the beginning and at the end of a measurement (compete only), "caller asked granted releasing"
//        per section, "failures n", "end"
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const Redis = require("ioredis");
// Its ES module entry cannot be loaded by name on current Node versions; its CommonJS entry can.
const Redlock = require("redlock").default;

const TTL = 30_000;
const [count, ...uris] = process.argv.slice(2);
const connections = [];
const clients = Array.from({ length: Number(count) }, () => {
  const own = uris.map((uri) => new Redis(uri));
  own.forEach((connection) => connection.on("error", () => {}));
  connections.push(...own);
  const redlock = new Redlock(own, { retryCount: -1, driftFactor: 0.01 });
  redlock.on("error", () => {});
  return redlock;
});

const now = () => Number(process.hrtime.bigint());
// Timers have a resolution of 1 ms and fire late rather than early.
const sleep = (nanos) => (nanos > 0 ? new Promise((done) => setTimeout(done, nanos / 1e6)) : null);

class Counts {
  constructor() {
    this.map = new Map();
  }
  add(nanos) {
    // A precision of 1/1000, like the histograms of the other systems.
    const step = nanos < 1e6 ? 100 : 10 ** Math.floor(Math.log10(nanos) - 3);
    const key = Math.round(nanos / step) * step;
    this.map.set(key, (this.map.get(key) ?? 0) + 1);
  }
  toString() {
    return [...this.map].map(([key, count]) => `${Math.round(key)}:${count}`).join(" ");
  }
}

async function pairs(workers, shared, names, millis, maxPairs) {
  const pairs = new Counts(), waits = new Counts(), gaps = new Counts();
  const perWorker = new Array(workers).fill(0);
  let overlaps = 0, failures = 0, holders = 0, released = 0;
  const start = now();
  const work = async (worker) => {
    let turn = 0;
    for (let asked = now(); asked - start < millis * 1e6 && turn < maxPairs; turn++) {
      try {
        const name = shared ? "node:shared" : `node:w${worker}-${turn % names}`;
        const lock = await clients[0].acquire([name], TTL);
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

async function acquire(caller, name, client = caller) {
  const asked = now();
  const lock = await clients[client].acquire([`node:${name}`], TTL);
  const granted = now();
  return async () => {
    const releasing = now();
    await lock.release();
    return `${caller} ${asked} ${granted} ${releasing}`;
  };
}

async function compete(members, threads, names, hold, pause, warmUp, grants, millis) {
  const sections = [];
  let failures = 0, granted = 0, over = false;
  let warm, enough;
  const isWarm = new Promise((done) => (warm = done));
  const isEnough = new Promise((done) => (enough = done));
  const work = async (caller) => {
    for (let turn = 0; !over; turn++) {
      try {
        const release = await acquire(caller, `crowd-${turn % names}`, caller % members);
        granted++;
        if (granted >= warmUp) warm();
        if (granted >= warmUp + grants) enough();
        if (!over) await sleep(hold);
        sections.push(await release());
        await sleep(pause);
      } catch (e) {
        failures++;
      }
    }
  };
  const workers = Array.from({ length: members * threads }, (_, caller) => work(caller));
  const limit = () => sleep(millis * 1e6);
  await Promise.race([isWarm, limit()]);
  console.log("edge");
  await Promise.race([isEnough, limit()]);
  console.log("edge");
  over = true;
  await Promise.all(workers);
  return { sections, failures };
}

async function handOver(rounds, millis, pause) {
  const sections = [];
  const start = now();
  for (let i = 0; i < rounds && now() - start < millis * 1e6; i++) {
    const name = `hand-over-${i % 16}`;
    const release = await acquire(i % 2, name);
    const waiting = acquire(1 - (i % 2), name);
    await sleep(pause);
    const released = release();
    const next = await waiting;
    sections.push(await released, await next());
  }
  return { sections, failures: 0 };
}

async function collide(rounds, millis, pause, members) {
  const sections = [];
  const start = now();
  for (let i = 0; i < rounds && now() - start < millis * 1e6; i++) {
    const one = async (caller) => (await acquire(caller, `collision-${i % 16}`))();
    sections.push(...(await Promise.all(Array.from({ length: members }, (_, caller) => one(caller)))));
    await sleep(pause);
  }
  return { sections, failures: 0 };
}

const experiments = { compete, handOver, collide };

await Promise.all(connections.map((connection) => connection.ping()));
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [order, ...numbers] = line.split(" ");
  if (order === "pairs") {
    console.log(await pairs(...numbers.map(Number)));
  } else {
    const { sections, failures } = await experiments[order](...numbers.map(Number));
    console.log([...sections, `failures ${failures}`, "end"].join("\n"));
  }
}
process.exit(0);
