import type { Dialect } from '../../config/dialect.ts';
import type { CheckResult } from '../check-result.ts';
import type { Asker } from './asker.ts';

/** A key of the dialect that the answers prove. */
export interface LearntKey {
  /** As `leads config` names it. */
  readonly key: string;
  readonly value: string | number | boolean | null;
  /** What was seen, as a sentence. */
  readonly evidence: string;
}

/** An examination of the list operation, and what it has found so far. */
export interface Examination {
  readonly asker: Asker;
  /** The dialect of the profile. */
  readonly inForce: Dialect;
  /** Other names are tried than those in force. */
  readonly isLearning: boolean;
  readonly checks: CheckResult[];
  readonly keys: LearntKey[];
}

export function learn(
  { keys }: Pick<Examination, 'keys'>,
  key: string,
  value: LearntKey['value'] | undefined,
  evidence: string,
): void {
  if (value !== undefined) keys.push({ key: `api.${key}`, value, evidence });
}
