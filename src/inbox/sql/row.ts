import type { OtherDelivery } from '../../webhook/delivery-answer.ts';
import type { ErasedLead } from '../inbox.ts';
import type { AttemptKind, Source, VerdictKind } from '../query-types.ts';

/** A value of a column. Numbers are whole. */
export type Value = string | number | null | Uint8Array;

/**
 * A row that was read. For a boolean SQLite gives 0 or 1 and PostgreSQL a boolean, and for bytes libsql gives an ArrayBuffer where it
 * reads several rows. The readers below give 0, '' or no bytes for NULL and for a row or column that is absent, so that an aggregate
 * over no rows needs no special case; a column in which NULL has a meaning is read by `optionalNumber` or `optionalText`.
 */
export type Row = Readonly<Record<string, Value | ArrayBuffer | boolean>>;
export type Rows = readonly Row[];

export const numberOf = (value: Row[string] | undefined): number => Number(value ?? 0);

export const optionalNumber = (value: Row[string] | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;

export const textOf = (value: Row[string] | undefined): string => (typeof value === 'string' ? value : '');

export const optionalText = (value: Row[string] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

export const bytesOf = (value: Row[string] | undefined): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array();
};

/** The JSON array that `dialect.list` made; an empty one where there was no row. */
export const listIn = (list: Row[string] | undefined): unknown => JSON.parse(textOf(list) || '[]');

export const otherEvent: OtherDelivery['reason'] = 'other_event';

/** Other events are stored as rejected deliveries with a reason of their own. */
export const verdictOfRow = (stored: unknown, reason: string | undefined): VerdictKind =>
  reason === otherEvent ? 'other' : (stored as VerdictKind);

/** A lead that an audit fetched is stored with the source `backfill`: to forward it repairs what was never delivered. */
export const attemptKindOfRow = (kind: AttemptKind, source: Source): AttemptKind =>
  kind === 'forward' && source === 'backfill' ? 'repair' : kind;

/** Reads the columns that `leads` and `erased` have in common. */
export const leadHistoryOf = (row: Row): ErasedLead => ({
  seq: numberOf(row['seq']),
  firstAt: numberOf(row['first_at']),
  attempts: numberOf(row['attempts']),
});
