import type { CheckSession, Exchange } from './session.ts';

/**
 * `must` is what the specification demands of a receiver (section 4.2), `should` is what keeps it safe and reachable,
 * `info` is worth knowing.
 */
export const levels = ['must', 'should', 'info'] as const;

/** From the best to the worst. */
const results = ['skip', 'pass', 'warn', 'fail'] as const;

export interface Finding {
  readonly result: (typeof results)[number];
  /** A sentence without a full stop about what the receiver did; for a skipped probe, why it was skipped. */
  readonly seen: string;
  readonly exchange?: Exchange | undefined;
  readonly hint?: string | undefined;
}

export type Requirement = 'credential' | 'time' | 'nonce' | 'oracle';

/** A probe asks a receiver one question: it sends something, and expects certain answers. */
export interface Probe {
  readonly name: string;
  readonly rule: string;
  readonly level: (typeof levels)[number];
  readonly expected: string;
  readonly hint: string;
  readonly requires?: readonly Requirement[];
  /** An obedient receiver stores nothing of it and goes on running, so it may run against production. */
  readonly isHarmless?: boolean;
  /** Most probes run at the same time; those that depend on what the others did run after them, one by one. */
  readonly runsLast?: boolean;
  readonly run: (session: CheckSession) => Promise<Finding> | Finding;
}

type Row = Pick<Probe, 'name' | 'expected' | 'hint' | 'run'> & Partial<Probe>;

/** The probes of one group; each row overrides the values that the group has in common. */
export const probeGroup = (
  group: string,
  common: Pick<Probe, 'rule' | 'level'> & Partial<Probe>,
  rows: readonly Row[],
): readonly Probe[] => rows.map((row) => ({ ...common, ...row, name: `${group}.${row.name}` }));

export const groupOf = ({ name }: Pick<Probe, 'name'>): string => name.slice(0, name.indexOf('.'));

export const skipped = (reason: string): Finding => ({ result: 'skip', seen: reason });

export const worstOf = (findings: readonly Finding[]): Finding =>
  findings.reduce(
    (worst, finding) => (results.indexOf(finding.result) > results.indexOf(worst.result) ? finding : worst),
    skipped('it does not apply to this scheme'),
  );
