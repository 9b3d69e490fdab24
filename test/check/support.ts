import { systemClock, type Clock } from '../../src/time/clock.ts';
import { leads, type Run, type RunOptions } from '../support/run.ts';

/** Real time in which waiting takes a twentieth: slow bodies are sent quickly. */
export const hurriedClock: Clock = {
  now: () => systemClock.now(),
  steady: () => systemClock.steady(),
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
};

/** A line of `--json` for one probe. */
export interface ProbeRecord {
  readonly type: 'probe';
  readonly name: string;
  readonly group: string;
  readonly rule: string;
  readonly level: 'must' | 'should' | 'info';
  readonly result: 'pass' | 'warn' | 'fail' | 'skip';
  readonly expected: string;
  readonly seen: {
    readonly status: number | null;
    readonly ms: number;
    readonly answer: string | null;
  } | null;
  readonly detail: string;
  readonly hint: string | null;
  readonly curl: string | null;
  readonly known?: true;
}

export interface CheckSummary {
  readonly type: 'summary';
  readonly target: string;
  readonly pass: number;
  readonly fail: number;
  readonly warn: number;
  readonly skip: number;
  readonly accepted: readonly string[];
}

export interface CheckRun extends Run {
  readonly probes: readonly ProbeRecord[];
  readonly summary: CheckSummary;
  /** `name: detail` of the probes that failed. */
  readonly failed: readonly string[];
}

/** `leads check URL --json` in this process. */
export async function check(argv: readonly string[], options: RunOptions = {}): Promise<CheckRun> {
  const run = await leads(['check', '--json', ...argv], {
    clock: hurriedClock,
    random: Math.random,
    env: { PATH: process.env['PATH'] ?? '' },
    ...options,
  });
  const lines = run.stdout.split('\n').filter((line) => line !== '');
  const records = lines.map((line) => JSON.parse(line) as ProbeRecord | CheckSummary);
  const probes = records.filter((record) => record.type === 'probe');
  const summary = records.find((record) => record.type === 'summary');
  if (summary === undefined) throw new Error(`no summary; exit ${run.exitCode}: ${run.stderr}`);
  const failed = probes.filter(({ result }) => result === 'fail').map(({ name }) => name);
  return { ...run, probes, summary, failed };
}

export const named = (run: CheckRun, result: string): string[] =>
  run.probes.filter((probe) => probe.result === result).map(({ name }) => name);
