import { afterAll, beforeAll, expect, it } from 'vitest';
import { printTable } from '../support/measure.ts';
import {
  lookForRegression,
  type Look,
  pairedRatios,
  ratios,
  type Spread,
  spreadOf,
} from '../support/ratios.ts';
import { buildBase } from './gate/base-build.ts';
import { root, storedRatios, storeRatios } from './gate/baseline.ts';
import { type Contestant, openContestants } from './gate/contestants.ts';

/**
 * CPU time of all processes for fixed amounts of work. `npm run bench -- gate` compares it with a yardstick, and prints the stored
 * ratios beside it. The gate compares it with the build of the commit that stored them, on this machine too. A ratio to a
 * yardstick decides nothing: on another machine, that of the same build differs by half.
 */
const reason = process.env['LEADS_BENCH_BASELINE'];
const isGate = process.env['LEADS_BENCH_GATE'] !== undefined;
const only = process.env['LEADS_BENCH_ONLY'];

/** What is clearly no slower passes after four pairs. A regression exceeds every limit: a busy machine seldom does so three times. */
const looks: readonly Look[] = [
  { pairs: 4, limit: 1.07 },
  { pairs: 11, limit: 1.1 },
  { pairs: 11, limit: 1.1 },
];

let contestants: readonly Contestant[] = [];
let close: () => Promise<unknown> = () => Promise.resolve();
beforeAll(async () => {
  const opened = await openContestants(root);
  contestants = opened.contestants.filter(({ name }) => only === undefined || name.includes(only));
  ({ close } = opened);
}, 120_000);
afterAll(() => close());

it.skipIf(isGate)('measures each against its yardstick', async () => {
  const found: Record<string, Spread> = {};
  for (const { name, cpuOf, cpuOfYardstick } of contestants) {
    await cpuOf(root)();
    found[name] = spreadOf(await ratios(5, cpuOf(root), cpuOfYardstick));
  }
  const stored = storedRatios();
  const shown = (spread: Spread | undefined): string =>
    spread === undefined
      ? 'none'
      : [spread.median, spread.low, spread.high].map((value) => value.toPrecision(3)).join('  ');
  printTable(`CPU against a yardstick, node ${process.versions.node}; median, lowest and highest of five`, [
    ['', 'yardstick', 'now', 'stored'],
    ...contestants.map(({ name, yardstick }) => [name, yardstick, shown(found[name]), shown(stored?.[name])]),
  ]);
  if (reason !== undefined) storeRatios(found, reason);
});

it.skipIf(!isGate)('takes no more than the build that the stored ratios are of', async () => {
  const base = await buildBase();
  if (base === undefined) {
    console.log('compared with nothing: this commit stored the ratios');
    return;
  }
  const { folder, commit } = base;
  console.log(`CPU against ${commit.slice(0, 12)}, the median of each look`);
  for (const { name, cpuOf } of contestants) {
    await cpuOf(root)();
    await cpuOf(folder)();
    const { medians, isSlower } = await lookForRegression(looks, (pairs) =>
      pairedRatios(pairs, cpuOf(root), cpuOf(folder)),
    );
    // Each as soon as it is known: all of them take minutes.
    console.log([name, ...medians.map((value) => value.toFixed(3))].join('  '));
    expect.soft(isSlower, `${name} takes more than 1.1 × in every look`).toBe(false);
  }
});
