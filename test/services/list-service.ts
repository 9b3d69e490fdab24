import { createServer } from 'node:http';
import { type Answer, type Asked, type Lead, leadNumber, type Page, type Row } from './row.ts';
import { wholeNumber } from './ways.ts';
import { openServer } from '../support/open-server.ts';

const rejected = (status: number): Answer => ({
  status,
  body: { error: 'invalid_request', message: 'that is not possible' },
});

const orders = {
  'youngest first': (list: readonly Lead[]) => list.toReversed(),
  'oldest first': (list: readonly Lead[]) => list,
  none: (list: readonly Lead[]) => list.toSorted((a, b) => shuffled(a) - shuffled(b)),
};
const shuffled = ({ id }: Lead): number => (Number(id.slice(1)) * 7919) % 10_007;

/** What a service answers. */
function answerOf(row: Row, asked: Asked): Answer {
  const special = row.answer?.(asked);
  if (special !== undefined) return special;
  const { query, url } = asked;
  const { cap = Infinity, usual = cap, size: sizeNames = [], way, filters = [], behind = 'empty' } = row;
  const known: readonly string[] = [...sizeNames, ...(way?.params ?? []), ...filters];
  if (row.isStrict === true && [...query.keys()].some((name) => !known.includes(name))) return rejected(400);
  const list = asked.list.filter((lead) =>
    filters.every((name) => (query.get(name) ?? lead[name]) === lead[name]),
  );
  const sizeName = sizeNames.find((name) => query.has(name));
  const wanted = sizeName === undefined ? usual : wholeNumber(query.get(sizeName) ?? '');
  if (wanted === undefined || wanted < 1) return rejected(400);
  if (sizeName !== undefined && wanted > cap && row.tooLarge !== undefined) return rejected(row.tooLarge);
  const size = Math.min(wanted, cap, 1_000_000);
  const start = way === undefined ? 0 : way.start(query, list, size);
  if (start === undefined) return rejected(400);
  const page = (at: number): Answer => answerAt(row, url, list, at, size);
  if (start === 0 || start < list.length || behind === 'empty') return page(start);
  if (behind === 204) return { status: 204 };
  if (typeof behind === 'number') return rejected(behind);
  return page(behind === 'first page' ? 0 : Math.floor((list.length - 1) / size) * size);
}

function answerAt(row: Row, url: URL, list: readonly Lead[], start: number, size: number): Answer {
  const leads = list.slice(start, start + size);
  const page: Page = {
    ...{ leads, start, size, total: list.length },
    end: start + leads.length,
    isLast: start + leads.length >= list.length,
    number: Math.floor(start / size) + (row.way?.base ?? 1),
    pages: Math.ceil(list.length / size),
    link(changes) {
      const target = new URL(url);
      for (const [name, value] of Object.entries(changes)) target.searchParams.set(name, String(value));
      return target.href;
    },
  };
  const body = row.body?.(page) ?? { leads };
  return { status: row.status?.(page) ?? 200, headers: row.headers?.(page) ?? {}, body };
}

export interface ListService {
  readonly url: string;
  /** Leads there are; grows where leads arrive. */
  count: number;
  /** Of all leads. */
  readonly ids: readonly string[];
  /** Since the last `forget`. */
  readonly requests: readonly string[];
  /** Answers since then that brought a lead which none before had brought. */
  readonly fruitful: number;
  forget(): void;
  close(): Promise<void>;
}

/** Serves a row of the table on a free port, with so many leads at first. */
export async function serve(row: Row, count: number): Promise<ListService> {
  const met = new Set<string>();
  const requests: string[] = [];
  let list: readonly Lead[] = [];
  let fruitful = 0;
  const order = orders[row.order ?? 'youngest first'];
  const listNow = (): readonly Lead[] => {
    if (list.length === service.count) return list;
    const inOrder = Array.from({ length: service.count }, (_, n) => leadNumber(n));
    return (list = order(inOrder));
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', service.url);
    requests.push(url.pathname + url.search);
    const { status = 200, headers, body } = answerOf(row, { url, query: url.searchParams, list: listNow() });
    const text = body === undefined ? '' : JSON.stringify(body);
    const before = met.size;
    for (const id of leadIdsIn(text)) met.add(id);
    if (met.size > before) fruitful += 1;
    response.writeHead(status, { ...(text !== '' && { 'content-type': 'application/json' }), ...headers });
    response.end(text);
  });
  const opened = await openServer(server);
  const service = {
    url: opened.url,
    count,
    requests,
    get ids() {
      return listNow().map(({ id }) => id);
    },
    get fruitful() {
      return fruitful;
    },
    forget() {
      requests.length = 0;
      met.clear();
      fruitful = 0;
    },
    close: opened.close,
  };
  return service;
}

export const leadIdsIn = (text: string): string[] => [...text.matchAll(/\bL\d{5}\b/g)].map(([id]) => id);
