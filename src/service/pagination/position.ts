import type * as z from 'zod/mini';
import type { Dialect } from '../../config/dialect.ts';
import type { positionSchema } from './position-schema.ts';
import { numberParams } from './service-names.ts';

/**
 * Where a page begins: a plain JSON value that can be stored in a checkpoint and handed back to `listLeads`.
 * A position that is a number names the record before it (`after`), so that the next answer shows whether the
 * service's list has shifted since.
 */
export type Position = Readonly<z.output<typeof positionSchema>>;

export type TotalsSoFar = NonNullable<Position['totals']>;

/**
 * The leads that were created at a time or before it, in milliseconds since the epoch. The time that is sent is a little
 * later: the last lead comes again, whether the service includes the time or not, and shows that none was passed over.
 */
export function windowPosition(param: string, time: number, format: NonNullable<Dialect['dateFormat']>) {
  // A time without milliseconds may be compared without them, too.
  const end = time % 1000 === 0 ? time + 1000 : time + 1;
  return { style: 'cursor', is: 'time', param, cursor: timeText(end, format) } as const satisfies Position;
}

/** A time as the service takes it. */
export function timeText(ms: number, format: NonNullable<Dialect['dateFormat']>): string {
  if (format === 'iso') return new Date(ms).toISOString();
  return String(format === 'unix' ? Math.floor(ms / 1000) : ms);
}

/** Pages are the same when they begin in the same place, whatever is known of the record before them. */
export function positionKey(position: Position): string {
  switch (position.style) {
    case 'start':
      return 'start';
    case 'url':
      return `url ${position.url}`;
    case 'cursor':
      return `cursor ${position.cursor}`;
    case 'page':
      return `page ${position.page}`;
    case 'offset':
      return `offset ${position.offset}`;
  }
}

/** The record in front of a position, if it is known. */
export const recordBefore = (position: Position): string | undefined =>
  position.style === 'start' ? undefined : position.after;

/** A position that is a plain count: of pages, or of the records before it. */
export interface PositionNumber {
  readonly kind: 'page' | 'offset';
  readonly value: number;
}

/** Parameters that make a URL's numbers something else than the whole position. */
const opaqueParam = /cursor|token|after|before|bookmark|scroll/i;

/** The number that a position is; undefined for the start, and for what only the service understands. */
export function countOfPosition(position: Position): PositionNumber | undefined {
  switch (position.style) {
    case 'start':
      return undefined;
    case 'page':
      return { kind: 'page', value: position.page };
    case 'offset':
      return { kind: 'offset', value: position.offset };
    case 'cursor':
      return position.is === 'page' || position.is === 'offset'
        ? { kind: position.is, value: Number(position.cursor) }
        : undefined;
    case 'url':
      // Without the record before it, the number was not found to be a plain count.
      return position.after === undefined ? undefined : countInUrl(new URL(position.url))?.number;
  }
}

/** Whether a position is told by a number that counts pages or records, plainly or in steps that only the service knows. */
export const isTellingNumber = (position: Position): boolean =>
  countOfPosition(position) !== undefined ||
  (position.style === 'url' && countInUrl(new URL(position.url)) !== undefined);

/** The same position with another number; `after` is the record before it, if it is known. */
export function withNumber(position: Position, value: number, after: string | undefined): Position {
  switch (position.style) {
    case 'start':
      return position;
    case 'page':
      return { ...position, page: value, after };
    case 'offset':
      return { ...position, offset: value, after };
    case 'cursor':
      return { ...position, cursor: String(value), after };
    case 'url': {
      const url = new URL(position.url);
      const found = countInUrl(url);
      if (found !== undefined) url.searchParams.set(found.param, String(value));
      return { ...position, url: url.href, after };
    }
  }
}

/** The page number or offset of a URL, and the parameter that holds it. */
export function countInUrl(
  url: URL,
): { readonly param: string; readonly number: PositionNumber } | undefined {
  for (const name of url.searchParams.keys()) if (opaqueParam.test(name)) return undefined;
  for (const kind of ['offset', 'page'] as const) {
    for (const param of numberParams[kind].inAddress) {
      const text = url.searchParams.get(param);
      if (text !== null && /^\d{1,15}$/.test(text)) return { param, number: { kind, value: Number(text) } };
    }
  }
  return undefined;
}
