import * as z from 'zod/mini';
import { DataError } from '../errors.ts';
import { readJsonState } from '../files/json-state.ts';
import type { ProbeReport } from './run-probes.ts';

const baselineSchema = z.object({
  /** A file that a person wrote may leave it out. */
  version: z.optional(z.literal(1)),
  /** Names of probes. */
  failing: z.array(z.string()),
});

/** Probes that are known to fail at a receiver, as `--write-baseline` wrote them. */
export interface Baseline {
  readonly failing: ReadonlySet<string>;
}

/** Throws a `DataError` for a file that is missing or was not written by this program. */
export async function readBaseline(path: string): Promise<Baseline> {
  const stored = await readJsonState(path, baselineSchema, 'baseline');
  if (stored === undefined) {
    throw new DataError(`there is no baseline in ${path}`, {
      hint: `write it with --write-baseline ${path}`,
    });
  }
  return { failing: new Set(stored.failing) };
}

/** The file for these reports; probes that did not run keep what `known` says of them. */
export function baselineText(reports: readonly ProbeReport[], known: Baseline | undefined): string {
  const ran = reports.filter(({ finding }) => finding.result !== 'skip');
  const names = new Set(ran.map(({ probe }) => probe.name));
  const failing = [
    ...ran.filter(({ finding }) => finding.result === 'fail').map(({ probe }) => probe.name),
    ...[...(known?.failing ?? [])].filter((name) => !names.has(name)),
  ];
  return `${JSON.stringify({ version: 1, failing: failing.sort() }, undefined, 2)}\n`;
}

/** Probes of the baseline that pass now. */
export const healedOf = (reports: readonly ProbeReport[], { failing }: Baseline): string[] =>
  reports
    .filter(({ probe, finding }) => finding.result === 'pass' && failing.has(probe.name))
    .map(({ probe }) => probe.name);
