import type * as z from 'zod/mini';
import type { Dialect } from '../../config/dialect.ts';
import { numberParams } from './names.ts';
import type { positionSchema } from './position-schema.ts';

/** Where a page begins: a plain JSON value that a checkpoint stores, and that `listLeads` goes on from. */
export type Position = Readonly<z.output<typeof positionSchema>>;

export const start: Position = { style: 'start' };

/** A time as the service takes it. */
export function timeText(ms: number, format: NonNullable<Dialect['dateFormat']>): string {
  if (format === 'iso') return new Date(ms).toISOString();
  return String(format === 'unix' ? Math.floor(ms / 1000) : ms);
}

/** Pages are the same when they begin in the same place. */
export function positionKey(position: Position): string {
  switch (position.style) {
    case 'start':
      return 'start';
    case 'url':
      return `url ${position.url}`;
    case 'cursor':
      return `cursor ${position.cursor}`;
    case 'before':
      return `before ${position.id} ${position.time ?? ''}`;
    case 'page':
      return `page ${position.page}`;
    case 'offset':
      return `offset ${position.offset}`;
  }
}

/** Parameters that make a URL's numbers something else than the whole position. */
const opaqueParam = /cursor|token|after|before|bookmark|scroll/i;

/** A plain count: of pages, or of the records before it. */
interface PositionNumber {
  readonly kind: 'page' | 'offset';
  readonly value: number;
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

/** Whether a position counts pages or records, so that it means another place when the list moves. */
export function isCounting(position: Position): boolean {
  switch (position.style) {
    case 'page':
    case 'offset':
      return true;
    case 'cursor':
      return position.counts === true;
    case 'url':
      return countInUrl(new URL(position.url)) !== undefined;
    default:
      return false;
  }
}
