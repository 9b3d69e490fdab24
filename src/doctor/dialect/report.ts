import { checkNamed, type CheckResult } from '../check-result.ts';
import type { DialectEvidence } from '../problems.ts';
import type { Asker, Query, Refusal, Seen } from './asker.ts';
import type { KnownList } from './seen-leads.ts';

/** A key of the dialect that the answers prove. */
export interface LearntKey {
  /** As `leads config` names it. */
  readonly key: string;
  readonly value: string | number | boolean | null;
  readonly evidence: DialectEvidence;
}

/** What an examination has found so far. */
export class Report {
  readonly checks: CheckResult[] = [];
  readonly keys: LearntKey[] = [];

  learn(key: string, value: LearntKey['value'] | undefined, evidence: DialectEvidence): void {
    if (value !== undefined) this.keys.push({ key: `api.${key}`, value, evidence });
  }

  add(name: string, result: CheckResult['result'], found: CheckResult['found']): void {
    this.checks.push(checkNamed(`dialect.${name}`)[result](found));
  }
}

/** What the parts of an examination share. */
interface Search {
  readonly asker: Asker;
  readonly report: Report;
  /** Other names are tried than those in force. */
  readonly isLearning: boolean;
  /** The service ignores parameters that it does not know, so that many names can be sent at once. */
  readonly ignoresUnknown: boolean;
}

/** The list without filters, and what a page of it was asked with. */
export interface ListSearch extends Search {
  readonly list: KnownList;
  readonly query: Query;
}

export const noRequest = { kind: 'no-request-for-it' } as const;

/** What a refusal says of the parameter that was sent. */
export const refusalOf = (asked: string, { error, sentence }: Refusal): DialectEvidence => ({
  kind: 'parameter-rejected',
  asked,
  status: error.status ?? sentence,
});

export const isRefused = (seen: Seen): boolean => seen.kind === 'rejected' && (seen.error.status ?? 0) < 500;
