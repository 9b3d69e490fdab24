import type { IncomingMessage, ServerResponse } from 'node:http';
import { scripted, sendJson, type Scripted } from './service.ts';

/** How a service names the next page, or leaves that to be found out. */
export const styles = [
  'array, page',
  'array, page from 0',
  'array, offset',
  'array, starting_after',
  'page',
  'page and total',
  'page and total_pages',
  'offset',
  'offset and total',
  'next_page',
  'next object',
  'Link with page',
  'next URL with offset',
  'cursor that counts',
  'opaque cursor',
  'has_more',
] as const;
export type Style = (typeof styles)[number];

/** What happens to the list between two requests. */
export type Change = 'nothing' | 'vanish' | 'move' | 'arrive';

/** How pages look. */
export interface PageOptions {
  readonly style: Style;
  /** No page is longer. */
  readonly cap: number;
  /** What a page behind the last one is answered with. */
  readonly behind?: 'empty' | 204 | 404 | 400;
  /** Whether `limit` is honoured below the cap. */
  readonly honoursLimit?: boolean;
  /** What a lead is; default: its id and one time for all. */
  readonly record?: (id: string) => object;
  /** Where three leads of the page before stand again, the last ones or, `far in front`, the first ones; no offset counts them. */
  readonly repeats?: 'in front' | 'far in front' | 'behind' | undefined;
}

export interface MovingOptions extends PageOptions {
  readonly leads: number;
  readonly change: Change;
  /** How often the list changes at most. */
  readonly changes: number;
  readonly random: () => number;
}

export interface MovingService extends Scripted {
  /** Ids that were there from the first request to the last. */
  readonly stayed: () => readonly string[];
  readonly changed: () => number;
  /**
   * More requests than a walk may make: three for each answer that brought a new lead, and fifty. Where the list changes
   * with every request, an answer may be thrown away, and its leads come again in several: half as many more then.
   */
  readonly excess: () => number;
}

/** A list that changes while it is read, and pages over it as one style does. */
export async function startMovingService(options: MovingOptions): Promise<MovingService> {
  const { change, random } = options;
  const pick = (below: number): number => Math.floor(random() * below);
  const list = Array.from({ length: options.leads }, (_, i) => `lead_${String(i).padStart(4, '0')}`);
  /** Where each id stands for a cursor that names an id: that order never changes. */
  const born = new Map(list.map((id, i) => [id, i]));
  const gone = new Set<string>();
  const given = new Set<string>();
  const first = [...list];
  let [changed, requests, news] = [0, 0, 0];
  const arrive = (): void => {
    const id = `new_${born.size}`;
    born.set(id, -born.size);
    list.unshift(id);
  };
  const take = (): string => list.splice(pick(list.length), 1)[0] ?? '';
  const move = (): void => {
    const id = take();
    if (random() < 0.5) list.unshift(id);
    else list.push(id);
  };
  const alter = (): void => {
    if (change === 'nothing' || changed >= options.changes || random() < 0.4) return;
    changed += 1;
    const many = 1 + pick(Math.min(4, options.cap));
    for (let n = 0; n < many && list.length > 1; n += 1) {
      if (change === 'arrive') arrive();
      else if (change === 'vanish') gone.add(take());
      else move();
    }
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (requests > 0) alter();
    requests += 1;
    const ids = respond(request, response, list, born, options);
    if (ids.some((id) => !given.has(id))) news += 1;
    for (const id of ids) given.add(id);
  };
  const server = await scripted(answer);
  return {
    ...server,
    stayed: () => first.filter((id) => !gone.has(id)),
    changed: () => changed,
    excess: () => Math.max(0, requests - (3 * news + 50) * (changed > 3 ? 1.5 : 1)),
  };
}

/** The page that a request asks for, of a list that is in the order of the service; gives the ids on it. */
export function respond(
  request: IncomingMessage,
  response: ServerResponse,
  list: readonly string[],
  born: ReadonlyMap<string, number>,
  options: PageOptions,
): readonly string[] {
  const url = new URL(request.url ?? '', `http://${request.headers.host ?? ''}`);
  const { ids, status = 200, body, headers } = pageAt(url, list, born, options);
  if (status === 200) sendJson(response, body, headers);
  else if (status === 204) response.writeHead(204).end();
  else response.writeHead(status).end(JSON.stringify(body));
  return ids;
}

export interface ListedPage {
  readonly ids: readonly string[];
  readonly status?: 204 | 404 | 400;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** The same, as an answer that is not sent yet. */
export function pageAt(
  url: URL,
  list: readonly string[],
  born: ReadonlyMap<string, number>,
  { style, cap, behind = 'empty', honoursLimit = true, record = plainRecord, repeats }: PageOptions,
): ListedPage {
  const query = url.searchParams;
  const size = honoursLimit ? Math.min(cap, Number(query.get('limit') ?? cap)) : cap;
  const number = (name: string, otherwise: number): number => Number(query.get(name) ?? otherwise);
  const page = number('page', style === 'array, page from 0' ? 0 : 1);
  const isById = style === 'array, starting_after' || style === 'has_more' || style === 'opaque cursor';
  const ordered = isById ? [...list].sort((a, b) => (born.get(a) ?? 0) - (born.get(b) ?? 0)) : list;
  const cursor = query.get(style === 'opaque cursor' ? 'cursor' : 'starting_after');
  const id =
    cursor !== null && style === 'opaque cursor' ? Buffer.from(cursor, 'base64url').toString() : cursor;
  const start = isById
    ? id === null
      ? 0
      : ordered.filter((one) => (born.get(one) ?? 0) <= (born.get(id) ?? 0)).length
    : /offset/.test(style)
      ? number('offset', 0)
      : style === 'cursor that counts'
        ? number('cursor', 0)
        : (style === 'array, page from 0' ? page : page - 1) * size;
  const own = ordered.slice(start, start + size);
  const from = Math.max(0, start - (repeats === 'far in front' ? size : 3));
  const others = repeats === undefined ? [] : ordered.slice(from, Math.min(from + 3, start));
  const ids = repeats === 'behind' ? [...own, ...others] : [...others, ...own];
  const data = ids.map(record);
  const more = start + size < ordered.length;
  const link = (name: string, value: number): string => {
    const next = new URL(url);
    next.searchParams.set(name, String(value));
    return next.href;
  };
  if (ids.length === 0 && start > 0 && behind !== 'empty')
    return { ids, status: behind, body: { error: 'no_such_page', message: 'no such page' } };
  const bodies: Readonly<Record<Style, () => unknown>> = {
    'array, page': () => data,
    'array, page from 0': () => data,
    'array, offset': () => data,
    'array, starting_after': () => data,
    page: () => ({ data, page }),
    'page and total': () => ({ data, page, total: ordered.length }),
    'page and total_pages': () => ({ data, page, total_pages: Math.ceil(ordered.length / size) }),
    offset: () => ({ data, offset: start }),
    'offset and total': () => ({ data, offset: start, total: ordered.length }),
    next_page: () => ({ data, next_page: more ? page + 1 : null }),
    'next object': () => ({ data, next: more ? { page: page + 1 } : null }),
    'Link with page': () => data,
    'next URL with offset': () => ({ data, next: more ? link('offset', start + size) : null }),
    'cursor that counts': () => ({ data, next_cursor: more ? String(start + size) : null }),
    'opaque cursor': () => ({
      data,
      next_cursor: more ? Buffer.from(own.at(-1) ?? '').toString('base64url') : null,
    }),
    has_more: () => ({ data, has_more: more }),
  };
  const headers: Record<string, string> =
    style === 'Link with page' && more ? { link: `<${link('page', page + 1)}>; rel="next"` } : {};
  return { ids, body: bodies[style](), headers };
}

const plainRecord = (id: string): object => ({ id, createdAt: '2026-01-01T00:00:00Z' });
