import type { Position } from './position.ts';
import { offsetParams, pageParams } from './request-params.ts';

/** A position that is a plain count: of pages, or of the records before it. */
export interface PositionNumber {
  readonly kind: 'page' | 'offset';
  readonly value: number;
}

/** Parameters that make a URL's numbers something else than the whole position. */
const opaqueParam = /cursor|token|after|before|bookmark|scroll/i;

/** The number that a position is; undefined for the start, and for what only the service understands. */
export function numberOf(position: Position): PositionNumber | undefined {
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
      return position.after === undefined ? undefined : numberIn(new URL(position.url))?.number;
  }
}

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
      const found = numberIn(url);
      if (found !== undefined) url.searchParams.set(found.param, String(value));
      return { ...position, url: url.href, after };
    }
  }
}

/** The page number or offset of a URL, and the parameter that holds it. */
export function numberIn(url: URL): { readonly param: string; readonly number: PositionNumber } | undefined {
  for (const name of url.searchParams.keys()) if (opaqueParam.test(name)) return undefined;
  for (const [kind, names] of [
    ['offset', offsetParams],
    ['page', pageParams],
  ] as const) {
    for (const param of names) {
      const text = url.searchParams.get(param);
      if (text !== null && /^\d{1,15}$/.test(text)) return { param, number: { kind, value: Number(text) } };
    }
  }
  return undefined;
}
