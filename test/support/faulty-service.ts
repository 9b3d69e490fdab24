import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type OpenServer, openServer } from './open-server.ts';

export type Style = 'cursor' | 'link' | 'page' | 'offset';

export interface FaultyOptions {
  readonly leads: number;
  readonly pageSize: number;
  readonly style: Style;
  readonly seed: number;
  /** Shares of the requests that are answered 500, 429, with a reset, or with a truncated page. */
  readonly faults?: { status500: number; status429: number; reset: number; truncate: number };
  /** Share of the records that come again on a later page (cursor and link), or of pages before which one is added. */
  readonly repeats?: number;
  readonly latencyMs?: number;
  /** For `Retry-After` as a date. */
  readonly now?: () => number;
  readonly record?: (i: number) => string;
}

export interface FaultyService extends OpenServer {
  /** Ids of all leads that were there from the start. */
  readonly ids: readonly string[];
  /** How often each fault was injected. */
  readonly injected: Record<string, number>;
  /** Requests answered so far. */
  requests(): number;
}

/** mulberry32: the same seed gives the same numbers. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const idOf = (i: number): string => `lead-${i.toString().padStart(7, '0')}`;

/** Some records are larger and not ASCII, so that pages are cut at every kind of place. */
const plainRecord = (i: number): string =>
  `{"id":"${idOf(i)}","category":"solar","contact":{"name":"Zoë ${'ü'.repeat(i % 40)} \\"${i}\\""},` +
  `"metadata":{"source":"web","n":${i}.0},"createdAt":"${new Date(Date.UTC(2025, 0, 1) + i * 1000).toISOString()}"}`;

/** The list operation with faults drawn from a seed: it answers every page in the end, but seldom at once. */
export async function faultyService(options: FaultyOptions): Promise<FaultyService> {
  const { leads, pageSize, style, faults, repeats = 0, now = Date.now, record = plainRecord } = options;
  const random = seeded(options.seed);
  const ids = Array.from({ length: leads }, (_, i) => idOf(i));
  const list = Array.from({ length: leads }, (_, i) => record(i));
  const injected: Record<string, number> = { status500: 0, status429: 0, reset: 0, truncate: 0, repeat: 0 };
  let requests = 0;
  let added = 0;

  const bodyFrom = (start: number, size: number): { body: string; next: string | undefined } => {
    const records = list.slice(start, start + size);
    if (style === 'cursor' || style === 'link') {
      for (let i = records.length; i > 0; i -= 1) {
        if (start === 0 || random() >= repeats) continue;
        injected['repeat'] = (injected['repeat'] ?? 0) + 1;
        records.splice(i, 0, list[Math.floor(random() * start)] ?? '');
      }
    }
    const next = start + size < list.length ? String(start + size) : undefined;
    const way = {
      cursor: `,"next_cursor":${next === undefined ? 'null' : `"${next}"`}`,
      link: '',
      page: `,"page":${start / size + 1},"total":${list.length}`,
      offset: `,"offset":${start},"total":${list.length}`,
    }[style];
    return { body: `{"data":[${records.join(',')}]${way}}`, next };
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (options.latencyMs !== undefined) await pause(options.latencyMs);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const number = (name: string): number => Number(url.searchParams.get(name) ?? 0);
    const size = Math.min(pageSize, number('limit') || pageSize);
    const start =
      style === 'page'
        ? (Math.max(1, number('page')) - 1) * size
        : number(style === 'offset' ? 'offset' : 'cursor');
    if ((style === 'page' || style === 'offset') && start > 0 && random() < repeats) {
      // Newest first: what comes in while the list is read moves the rest to later places.
      list.unshift(record(leads + added));
      added += 1;
      injected['repeat'] = (injected['repeat'] ?? 0) + 1;
    }
    const fault = draw(faults, random());
    if (fault !== undefined) injected[fault] = (injected[fault] ?? 0) + 1;
    if (fault === 'status500') {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":"internal","message":"try again"}');
      return;
    }
    if (fault === 'status429') {
      response.writeHead(429, {
        'content-type': 'application/json',
        'retry-after': retryAfter(random, now()),
      });
      response.end('{"error":"rate_limited","message":"slow down"}');
      return;
    }
    if (fault === 'reset' && random() < 0.5) {
      request.socket.resetAndDestroy();
      return;
    }
    const { body, next } = bodyFrom(start, size);
    const bytes = Buffer.from(body);
    const headers: Record<string, string | number> = { 'content-type': 'application/json' };
    if (style === 'link' && next !== undefined)
      headers['link'] = `</api/leads?cursor=${next}&limit=${size}>; rel="next"`;
    if (fault !== 'reset' && fault !== 'truncate') {
      response.writeHead(200, { ...headers, 'content-length': bytes.length });
      response.end(bytes);
      return;
    }
    const cut = Math.floor(random() * bytes.length);
    if (fault === 'truncate' && random() < 0.5) {
      // Nothing but the closed connection ends this body, and it is closed too early.
      const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      request.socket.end(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\n${head.join('')}connection: close\r\n\r\n`),
          bytes.subarray(0, cut),
        ]),
      );
      return;
    }
    response.writeHead(200, { ...headers, 'content-length': bytes.length });
    response.write(bytes.subarray(0, cut), () => {
      if (fault === 'reset') request.socket.resetAndDestroy();
      else request.socket.end();
    });
  };
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response).catch(() => response.destroy());
  });
  return { ...(await openServer(server)), ids, injected, requests: () => requests };
}

function draw(faults: FaultyOptions['faults'], chance: number): string | undefined {
  let below = 0;
  for (const [name, share] of Object.entries(faults ?? {})) {
    below += share;
    if (chance < below) return name;
  }
  return undefined;
}

/** Seconds, a date, and what no calendar or no clock knows. */
function retryAfter(random: () => number, now: number): string {
  const forms = [
    '1',
    String(Math.floor(random() * 20)),
    new Date(now + 5000).toUTCString(),
    new Date(now - 60_000).toUTCString(),
    'soon',
    '-5',
    '',
    '99999999999999999999',
    '86400',
  ];
  // Those beyond every deadline end a run; they are rarer, since each costs another attempt at all of it.
  const many = random() < 0.1 ? forms.length : forms.length - 2;
  return forms[Math.floor(random() * many)] ?? '1';
}
