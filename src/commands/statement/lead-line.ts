import { isObject, type Json, parseExact } from '../../json/exact.ts';
import { utf8 } from '../../json/bytes.ts';
import { fieldAt } from '../../lead/raw-lead.ts';
import {
  borderOf,
  idDigest,
  type LineField,
  type StatementHeader,
  type StatementLine,
  type StatementSalt,
} from '../../statement/statement-format.ts';

/** Half-open, in milliseconds since the epoch. */
interface Period {
  readonly since: number;
  readonly until: number;
  readonly zone: string;
}

/** What a statement is to be of. */
export interface Wanted {
  readonly period: Period;
  readonly by: readonly LineField[];
  readonly salt: StatementSalt;
}

/** The counts of a statement of no lead. */
export const none: StatementHeader['counts'] = {
  accepted: 0,
  duplicate: 0,
  rejected: {},
  late: 0,
  repaired: 0,
  erased: 0,
};

interface DatedLead {
  readonly leadId: string;
  readonly at: number;
  /** Undefined where it is pruned. */
  readonly record: Json | undefined;
}

/** The line of a lead in the period, or beside it. */
export function lineOfLead({ leadId, at, record }: DatedLead, { period, by, salt }: Wanted): StatementLine {
  const fields = by.map((field) => [field, textIn(record, field)] as const);
  const border = borderOf(at, period);
  return {
    digest: idDigest(salt, leadId),
    at,
    ...Object.fromEntries(fields),
    ...(border === undefined ? {} : { border }),
  };
}

/** What the lead's own bytes say; undefined where they are pruned. */
export const recordIn = (lead: Uint8Array | undefined): Json | undefined =>
  lead === undefined || lead.length === 0 ? undefined : parseExact(utf8(lead).replace(/^\ufeff/, ''));

/** Half a surrogate pair has no form in UTF-8. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Empty where the lead says nothing, or is pruned. */
function textIn(record: Json | undefined, field: LineField): string {
  const path = field === 'source' ? ['metadata', 'source'] : [field];
  const value = isObject(record) ? fieldAt(record, path) : undefined;
  return typeof value === 'string' ? wellFormed(value) : '';
}
