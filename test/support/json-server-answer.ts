export type JsonServerRelease = '0.17' | '1 beta';

export interface JsonServerLead {
  readonly id: string;
  readonly [name: string]: string | undefined;
}

export interface JsonServerAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A number as json-server reads it: no number where it is missing, or is none. */
const integer = (query: URLSearchParams, name: string): number =>
  Number.parseInt(query.get(name) ?? '', 10) || 0;

/**
 * What json-server, a service that somebody else wrote, answers to the path and the query of a URL: of each release as much
 * as tests ask it for. test/oracles compares it with the real one.
 */
export const jsonServerAnswer = (
  release: JsonServerRelease,
  leads: readonly JsonServerLead[],
  url: URL,
): JsonServerAnswer => {
  const [, place, id, ...rest] = url.pathname.split('/');
  if (place !== 'leads' || rest.length > 0) return { status: 404, headers: {}, body: {} };
  if (id !== undefined) {
    const lead = leads.find((one) => one.id === id);
    return { status: lead === undefined ? 404 : 200, headers: {}, body: lead ?? {} };
  }
  // The library by which it reads a path to a member throws.
  if (release === '1 beta' && [...url.searchParams.keys()].some((key) => key.includes('['))) {
    return { status: 500, headers: {}, body: {} };
  }
  return { status: 200, ...(release === '0.17' ? olderPage : newerPage)(leads, url) };
};

type Page = Pick<JsonServerAnswer, 'headers' | 'body'>;

/** Whether json-server 0.17 finds that a lead fits a parameter; those that are no field's do not count. */
function fits(lead: JsonServerLead, key: string, value: string): boolean {
  const range = /_(gte|lte)$/.exec(key);
  if (range !== null) {
    const held = lead[key.slice(0, range.index)];
    if (held === undefined) return false;
    return range[1] === 'gte' ? held >= value : held <= value;
  }
  // `name[gte]` is an object, which equals nothing.
  const [name = '', member] = key.split('[');
  return lead[name] === undefined || (member === undefined && lead[name] === value);
}

/** `_page` and `_limit`, with links in a header; `_start` and `_limit`; a range of each field; all there is by default. */
function olderPage(all: readonly JsonServerLead[], url: URL): Page {
  const query = url.searchParams;
  const asked = new Map<string, string[]>();
  for (const [key, value] of query) {
    const name = key.replace(/\[\]$/, '');
    asked.set(name, [...(asked.get(name) ?? []), value]);
  }
  const leads = all.filter((lead) =>
    [...asked].every(([key, values]) => values.some((value) => fits(lead, key, value))),
  );
  const total = { 'x-total-count': String(leads.length) };
  if (query.has('_page')) {
    const page = Math.max(1, integer(query, '_page'));
    const size = integer(query, '_limit') || 10;
    const body = leads.slice((page - 1) * size, page * size);
    return { headers: { ...total, ...linksOf(url, page, size, leads.length) }, body };
  }
  if (!query.has('_limit')) return { headers: {}, body: leads };
  const start = integer(query, '_start');
  return { headers: total, body: leads.slice(start, start + integer(query, '_limit')) };
}

/** None behind the last page. */
function linksOf(url: URL, page: number, size: number, total: number): Record<string, string> {
  const last = Math.ceil(total / size);
  if (page > last || last === 1) return { link: '' };
  const pages = { first: 1, prev: page - 1, next: page + 1, last };
  const links = Object.entries(pages).filter(([, to]) => to >= 1 && to <= last);
  const urlOf = (to: number): string => url.href.replace(`page=${page}`, `page=${to}`);
  return { link: links.map(([rel, to]) => `<${urlOf(to)}>; rel="${rel}"`).join(', ') };
}

/** `_page` and `_per_page`, with the numbers of other pages in the body; `_start` and `_limit`; all there is by default. */
function newerPage(all: readonly JsonServerLead[], url: URL): Page {
  const query = url.searchParams;
  const leads = all.filter((lead) =>
    [...query].every(([key, value]) => {
      if (key.startsWith('_')) return true;
      // Comparisons are for numbers alone.
      if (/_(lt|lte|gt|gte)$/.test(key)) return false;
      return typeof lead[key] !== 'string' || lead[key] === value;
    }),
  );
  if (query.has('_start') || query.has('_limit')) {
    const start = integer(query, '_start');
    return { headers: {}, body: leads.slice(start, start + integer(query, '_limit')) };
  }
  if (integer(query, '_page') === 0) return { headers: {}, body: leads };
  const size = integer(query, '_per_page') || 10;
  const pages = Math.ceil(leads.length / size);
  const page = Math.max(1, Math.min(integer(query, '_page'), pages));
  const others = { prev: page > 1 ? page - 1 : null, next: page < pages ? page + 1 : null };
  const data = leads.slice((page - 1) * size, page * size);
  return { headers: {}, body: { first: 1, ...others, last: pages, pages, items: leads.length, data } };
}
