import type { CheckSession, Exchange } from './session.ts';

/**
 * `must` is what the specification demands of a receiver (section 4.2), `should` is what keeps it safe and reachable,
 * `info` is worth knowing.
 */
export const levels = ['must', 'should', 'info'] as const;

type Level = (typeof levels)[number];

export type Result = 'pass' | 'fail' | 'warn' | 'skip';

/** What a probe found. */
export interface Finding {
  readonly result: Result;
  /** What was seen, as a sentence without a full stop; why, where the probe was skipped. */
  readonly seen: string;
  /** What shows it: of several requests, the one that decided. */
  readonly exchange?: Exchange | undefined;
  /** Instead of the probe's own hint. */
  readonly hint?: string | undefined;
}

/**
 * `together`: at the same time as others. `alone`: one at a time after those, since it may stop a weak receiver. `last`:
 * when everything else is over.
 */
export type Stage = 'first' | 'together' | 'alone' | 'last';

/** One question to a receiver. */
export interface Probe {
  /** Stable: `GROUP.NAME`. */
  readonly name: string;
  /** The section of the specification that it proves. */
  readonly rule: string;
  readonly level: Level;
  /** What a good receiver does, in a few words. */
  readonly expected: string;
  /** What to change in a receiver that fails. */
  readonly hint: string;
  /** Default `together`. */
  readonly stage?: Stage;
  /** Nothing of it may be stored by a receiver that obeys, and it stops none: it may run against production. */
  readonly isHarmless?: true;
  /** It says something only about a receiver that acknowledges a genuine delivery. */
  readonly needsAcknowledgement?: true;
  /** A receiver that refuses everything passes it: only one that acknowledges a genuine delivery proves the rule. */
  readonly expectsRefusal?: true;
  /** It takes seconds by its nature: it begins before the others of its stage. */
  readonly isSlow?: true;
  /** Why it does not apply here; undefined: it does. */
  readonly inapplicable?: (session: CheckSession) => string | undefined;
  readonly run: (session: CheckSession) => Promise<Finding>;
}

export const groupOf = ({ name }: Pick<Probe, 'name'>): string => name.slice(0, name.indexOf('.'));

export const skipped = (reason: string): Finding => ({ result: 'skip', seen: reason });

const severity: readonly Result[] = ['skip', 'pass', 'warn', 'fail'];

/** The worst of several findings; of equal ones the first. */
export const worstOf = (findings: readonly [Finding, ...Finding[]]): Finding =>
  findings.reduce((worst, one) =>
    severity.indexOf(one.result) > severity.indexOf(worst.result) ? one : worst,
  );
