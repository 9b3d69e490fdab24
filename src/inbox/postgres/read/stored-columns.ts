import type { Span } from '../../../json/element/members.ts';
import type { StoredDelivery } from '../../inbox.ts';
import { bytesOf, isNull, numberOf, type Row } from '../sql/result-row.ts';
import { textOfBytes } from '../sql/text-bytes.ts';

/** A text that was stored as bytes. */
export const storedText = (value: unknown): string => textOfBytes(bytesOf(value));

export const optionalText = (value: unknown): string | undefined =>
  isNull(value) ? undefined : storedText(value);

export const headersIn = (value: unknown): StoredDelivery['headers'] =>
  JSON.parse(storedText(value)) as [string, string][];

/** Where the lead is in the body of a row of `deliveries`. */
export const placeOf = ({ lead_start: start, lead_end: end }: Row): Span | undefined =>
  isNull(start) || isNull(end) ? undefined : { start: numberOf(start), end: numberOf(end) };
