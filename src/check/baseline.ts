import { DataError, messageOf } from '../errors.ts';
import { readIfExists } from '../files/read.ts';
import type { CheckProblem } from './problems.ts';
import type { ProbeReport } from './run-probes.ts';

/** Probes that are known to fail at a receiver, as `--write-baseline` wrote them. */
export interface Baseline {
  readonly failing: ReadonlySet<string>;
}

/** Throws a `DataError` for a file that is missing or was not written by this program. */
export async function readBaseline(path: string): Promise<Baseline> {
  const fail = (problem: CheckProblem, cause?: unknown): DataError => new DataError(problem, { cause });
  const text = await readIfExists(path).catch((cause: unknown) => {
    throw fail({ kind: 'baseline-unreadable', path, why: messageOf(cause) }, cause);
  });
  if (text === undefined) throw fail({ kind: 'baseline-missing', path });
  const failing = failingOf(text);
  if (failing === undefined) throw fail({ kind: 'no-baseline', path });
  return { failing: new Set(failing) };
}

function failingOf(text: string): readonly string[] | undefined {
  try {
    const { failing } = JSON.parse(text) as { readonly failing?: unknown };
    return Array.isArray(failing) && failing.every((name) => typeof name === 'string') ? failing : undefined;
  } catch {
    return undefined;
  }
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
