import type { Span } from '../../json/element/members.ts';
import type { Row, Value } from './libsql.ts';

/**
 * The database ends text at a NUL and cannot hold half a surrogate pair, so that two such ids would become one: these
 * are kept as JSON text, as is an id that looks like it.
 */
const unsafe = /\0|^json:"|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export const toColumn = (id: string): string => (unsafe.test(id) ? `json:${JSON.stringify(id)}` : id);

export const fromColumn = (text: string): string =>
  text.startsWith('json:"') ? (JSON.parse(text.slice(5)) as string) : text;

export const bytesOf = (value: Value | undefined): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array();
};

export const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '');

/** Where the lead is in the body of a row of `deliveries`. */
export const placeOf = ({ lead_start: start, lead_end: end }: Row): Span | undefined =>
  typeof start === 'number' && typeof end === 'number' ? { start, end } : undefined;

/** The number under which the row's body is shared with others. */
export const sharedSeqOf = ({ first_seq: seq }: Row): number | undefined =>
  typeof seq === 'number' ? seq : undefined;
