import { listFilters, type WireListFilter } from '../../wire.ts';

/**
 * The window is since <= receivedAt < until, in milliseconds since the epoch; null means no bound. Where `last` is no null, the
 * window begins that many milliseconds before now, and `since` does not count.
 */
export interface ListFilter {
  readonly verdicts: readonly WireListFilter[];
  readonly last: number | null;
  readonly since: number | null;
  readonly until: number | null;
  readonly text: string;
}

export const noFilter: ListFilter = { verdicts: [], last: null, since: null, until: null, text: '' };

/** The fragment of the page's URL, such as `#/17?verdict=rejected&last=3600000`. */
export interface Address {
  readonly seq: number | null;
  readonly filter: ListFilter;
}

/** The URL never holds the search text, which may be personal data. */
export function hashOf({ seq, filter: { verdicts, last, since, until } }: Address): string {
  const query = queryOf(verdicts, { last, since, until });
  return `#/${seq ?? ''}${query === '' ? '' : `?${query}`}`;
}

/** People type addresses, so everything that is not a filter is ignored. `text` is the search text, which no address holds. */
export function addressIn(hash: string, text: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\//, '').split('?');
  const values = new URLSearchParams(query);
  const verdicts = values.getAll('verdict');
  return {
    seq: wholeNumber(path),
    filter: {
      verdicts: listFilters.filter((verdict) => verdicts.includes(verdict)),
      last: wholeNumber(values.get('last')),
      since: wholeNumber(values.get('since')),
      until: wholeNumber(values.get('until')),
      text,
    },
  };
}

const wholeNumber = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

/** `extra` are parameters of the request beside the filter. */
export function requestQuery(
  { verdicts, last, since, until, text }: ListFilter,
  extra: Readonly<Record<string, number | null>> = {},
): string {
  const start = last === null ? since : Date.now() - last;
  return queryOf(verdicts, { ...extra, since: start, until, text: text.trim() });
}

function queryOf(
  verdicts: readonly WireListFilter[],
  values: Readonly<Record<string, number | string | null>>,
): string {
  const query = new URLSearchParams(verdicts.map((verdict): [string, string] => ['verdict', verdict]));
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== '') query.set(name, String(value));
  }
  return query.toString();
}
