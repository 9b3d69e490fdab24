import { nextHintOf, type NextHint } from './next-hint.ts';

/** What the headers of an answer say about its place in the list. */
export interface HeaderHints {
  readonly next: NextHint | null | undefined;
  readonly page: number | undefined;
  readonly pages: number | undefined;
  readonly total: number | undefined;
}

type Headers = Readonly<Record<string, string | undefined>>;

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;

/** Reads `X-Next-Cursor`, `X-Next-Page`, `X-Page`, `X-Total-Pages`, `X-Total-Count`, `X-Total` and `Content-Range`. */
export function readHeaderHints(headers: Headers): HeaderHints {
  const cursor = headers['x-next-cursor'];
  const page = headers['x-next-page'];
  const next =
    cursor === undefined
      ? page === undefined
        ? undefined
        : nextHintOf('next_page', page.trim())
      : nextHintOf('next_cursor', cursor.trim());
  // `items 0-24/319` (RFC 9110, section 14.4); `*` is an unknown total.
  const range = /^\s*[\w-]+\s+(?:\d+-\d+|\*)\s*\/\s*(\d{1,15})\s*$/.exec(headers['content-range'] ?? '')?.[1];
  return {
    next,
    page: wholeNumber(headers['x-page']),
    pages: wholeNumber(headers['x-total-pages']),
    total: wholeNumber(headers['x-total-count'] ?? headers['x-total'] ?? range),
  };
}
