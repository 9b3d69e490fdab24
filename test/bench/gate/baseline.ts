import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Spread } from '../../support/ratios.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const baselineName = 'test/bench/baseline.json';
const path = join(root, baselineName);

/** CPU against the yardstick, by the name of what was measured. */
type Ratios = Readonly<Record<string, Spread>>;

interface Baseline {
  /** Why these figures took the place of those before. */
  readonly reason: string;
  /** By the major version of node. */
  readonly ratios: Readonly<Record<string, Ratios>>;
}

const major = process.versions.node.split('.')[0] ?? '';

const read = (): Baseline => JSON.parse(readFileSync(path, 'utf8')) as Baseline;

/** Of this node; undefined for one that was never measured. */
export const storedRatios = (): Ratios | undefined => read().ratios[major];

/** Stores ratios of this node; what was not measured, and other nodes', stay. */
export function storeRatios(ratios: Ratios, reason: string): void {
  const rounded = Object.entries(ratios).map(([name, spread]) => [
    name,
    Object.fromEntries(
      Object.entries(spread).map(([key, value]) => [key, Number(Number(value).toPrecision(3))]),
    ),
  ]);
  const baseline: Baseline = {
    reason,
    ratios: { ...read().ratios, [major]: { ...storedRatios(), ...Object.fromEntries(rounded) } as Ratios },
  };
  writeFileSync(path, `${JSON.stringify(baseline, null, 2)}\n`);
}
