import { setImmediate as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { limitYoungGeneration } from '../../src/limit-young-generation.ts';

/** Allocates much that is forgotten soon, and prints how large the young generation was at most, in MB. */

const youngMegabytes = (): number =>
  (getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0) / 1e6;

setFlagsFromString('--semi-space-growth-factor=2');
const stop = new AbortController();
limitYoungGeneration(stop.signal);
let kept: object[] = [];
let most = 0;
for (let i = 0; i < 600; i += 1) {
  for (let k = 0; k < 2000; k += 1) kept.push({ k, text: `delivery ${i} ${k}` });
  if (kept.length > 200_000) kept = kept.slice(100_000);
  most = Math.max(most, youngMegabytes());
  await turn();
}
stop.abort();
console.log(most);
