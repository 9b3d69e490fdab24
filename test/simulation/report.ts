import { possibleTransitions, seldomTransitions } from './transitions.ts';
import type { WorldResult } from './world/result.ts';

/** What many worlds did, in lines. */
export function report(results: readonly WorldResult[], seconds: number): readonly string[] {
  const ended = results.filter(({ digest }) => digest !== '');
  const each = (count: (result: WorldResult) => number): string =>
    medianOf(ended.map(count)).toLocaleString('en');
  const reached = new Set(ended.flatMap(({ transitions }) => transitions));
  const missing = possibleTransitions.filter((one) => !reached.has(one));
  const known = [...possibleTransitions, ...seldomTransitions];
  const seldom = seldomTransitions.filter((one) => reached.has(one));
  const unlisted = [...reached].filter((one) => !known.includes(one));
  const failed = results.filter(({ failure }) => failure !== undefined);
  return [
    `${results.length} seeds in ${seconds.toFixed(0)} s: ${((results.length / seconds) * 3600).toFixed(0)} an hour`,
    `a median seed: ${each(({ deliveries }) => deliveries)} deliveries, ${each(({ crashes }) => crashes)} crashes, ` +
      `${each(({ faults }) => sum(Object.values(faults)))} faults of ${each(({ faults }) => kindsOf(faults))} kinds, ` +
      `${each(({ virtualMs }) => Math.round(virtualMs / 360_000) / 10)} virtual hours`,
    'faults by kind:',
    ...faultsByKind(ended),
    `transitions: ${possibleTransitions.length - missing.length} of ${possibleTransitions.length} reached`,
    ...missing.map((one) => `  never: ${one}`),
    ...seldom.map((one) => `  seldom, and not counted: ${one}`),
    ...unlisted.map((one) => `  not in the list of transitions.ts: ${one}`),
    failed.length === 0 ? 'no seed failed' : `${failed.length} failed:`,
    ...failed.flatMap(failureLines),
  ];
}

/** How to see it again, and what did not hold. */
export const failureLines = ({ seed, failure }: WorldResult): readonly string[] =>
  failure === undefined
    ? []
    : [`  npm run simulate -- --seed ${seed}   ${failure.invariant}: ${firstLine(failure.detail)}`];

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

function faultsByKind(results: readonly WorldResult[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { faults } of results) {
    for (const [kind, count] of Object.entries(faults)) counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  const most = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
  return most.map(([kind, count]) => `  ${String(count).padStart(8)}  ${kind}`);
}

const kindsOf = (faults: WorldResult['faults']): number =>
  Object.values(faults).filter((count) => count > 0).length;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function medianOf(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
