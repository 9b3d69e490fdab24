import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { FakeClock } from '../../support/clock.ts';
import { certificateFor } from '../../support/certificates.ts';

/** What a service answers in the place of a page. */
interface Replacement {
  /** The only page, or the first one of all that follow. */
  readonly page?: number;
  readonly from?: number;
  readonly status: number;
  readonly body: unknown;
  /** `{unix}` stands for the end of the window. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The first time only. */
  readonly once?: boolean;
  /** So long from the first time on, by the clock of the run; ms. */
  readonly forMs?: number;
}

export interface ServiceDescription {
  readonly leads: number;
  readonly pageSize: number;
  /** Members of every answer. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly style:
    'page' | 'next page' | 'offset and total' | 'next offset' | 'page and has_more' | 'next url' | 'array';
  readonly replace?: Replacement;
  /** Offsets that are no multiple of the page size are rejected, or rounded down to one. */
  readonly offsets?: 'refused' | 'rounded';
  /** A larger limit than the page size is answered with 500. */
  readonly refusesLimits?: boolean;
  /** The lead of that number has NaN for a number. */
  readonly corrupt?: number;
}

export interface CaseService {
  readonly url: string;
  /** Who issued its certificate, as PEM. */
  readonly authority: string | undefined;
  /** Paths with their queries. */
  readonly asked: readonly string[];
  /** How many requests came before the service had said that they may. */
  early(): number;
  /** From now on, nothing is replaced. */
  heal(): void;
  close(): Promise<void>;
}

const leadJson = (nth: number, isCorrupt: boolean): string =>
  `{"id":"L-${nth}","score":${isCorrupt ? 'NaN' : nth},"createdAt":"2026-01-${String(28 - (nth % 28)).padStart(2, '0')}T00:00:00Z"}`;

/** A service that the description says, over real HTTP. */
export async function startCaseService(
  description: ServiceDescription,
  clock: FakeClock,
): Promise<CaseService> {
  const asked: string[] = [];
  const { replace } = description;
  let isHealthy = replace === undefined;
  let windowEnd: number | undefined;
  let early = 0;
  const certificate =
    description.style === 'next url' ? certificateFor(['localhost'], Date.now()) : undefined;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', 'http://service');
    asked.push(url.pathname + url.search);
    if (windowEnd !== undefined && clock.now() < windowEnd) early += 1;
    if (!isHealthy && replace !== undefined && isReplaced(replace, pageOf(url, description))) {
      windowEnd ??= replace.forMs === undefined ? undefined : clock.now() + replace.forMs;
      if (replace.once === true) isHealthy = true;
      if (windowEnd === undefined || clock.now() < windowEnd) {
        sendReplacement(response, replace, windowEnd ?? clock.now());
        return;
      }
    }
    sendPage(response, url, request, description);
  };
  const server = certificate === undefined ? createHttp(answer) : createHttps(certificate, answer);
  return {
    ...(await listening(server, certificate === undefined ? 'http' : 'https')),
    authority: certificate?.authority,
    asked,
    early: () => early,
    heal: () => void (isHealthy = true),
  };
}

const isReplaced = ({ page, from }: Replacement, asked: number): boolean =>
  page === undefined ? asked >= (from ?? 1) : asked === page;

function sendReplacement(
  response: ServerResponse,
  { status, body, headers = {} }: Replacement,
  windowEnd: number,
): void {
  const filled = Object.entries(headers).map(([name, value]): readonly [string, string] => [
    name,
    value.replace('{unix}', String(Math.ceil(windowEnd / 1000))),
  ]);
  const isText = typeof body === 'string';
  const type = isText ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...Object.fromEntries(filled) });
  response.end(isText ? body : JSON.stringify(body));
}

const number = (url: URL, name: string, otherwise: number): number =>
  Number(url.searchParams.get(name) ?? otherwise);

function pageOf(url: URL, { style, pageSize }: ServiceDescription): number {
  if (style === 'offset and total') return Math.floor(number(url, 'offset', 0) / pageSize) + 1;
  return number(url, 'page', 1);
}

function sendPage(
  response: ServerResponse,
  url: URL,
  request: IncomingMessage,
  description: ServiceDescription,
): void {
  const { leads, pageSize, style, offsets, refusesLimits = false, corrupt, beside = {} } = description;
  const send = (status: number, json: string): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(json);
  const limit = number(url, 'limit', pageSize);
  if (refusesLimits && limit > pageSize) {
    send(500, '{"message":"internal error"}');
    return;
  }
  const size = Math.min(limit, pageSize);
  const recordsFrom = (start: number): string =>
    `[${Array.from({ length: Math.max(0, Math.min(size, leads - start)) }, (_, i) =>
      leadJson(start + i + 1, start + i + 1 === corrupt),
    ).join(',')}]`;
  if (style === 'array') {
    send(200, recordsFrom(0));
    return;
  }
  if (style === 'offset and total' || style === 'next offset') {
    const asked = number(url, style === 'next offset' ? 'start' : 'offset', 0);
    if (offsets === 'refused' && asked % pageSize !== 0) {
      send(400, '{"error":"bad_offset","message":"offset must be a multiple of 50"}');
      return;
    }
    const start = offsets === 'rounded' ? asked - (asked % pageSize) : asked;
    const next = start + size < leads ? start + size : null;
    const rest =
      style === 'next offset' ? `,"next":${next},"total":${leads}` : `,"offset":${start},"total":${leads}`;
    send(200, `{"${style === 'next offset' ? 'result' : 'data'}":${recordsFrom(start)}${rest}}`);
    return;
  }
  const page = number(url, 'page', 1);
  const hasMore = page * size < leads;
  const next = {
    page: JSON.stringify(beside).slice(1, -1),
    'next page': `"next_page":${hasMore ? page + 1 : null}`,
    'page and has_more': `"page":${page},"has_more":${hasMore}`,
    // Behind a proxy that ends TLS, services name themselves so.
    'next url': `"next":${hasMore ? `"http://${(request.headers.host ?? '').replace(/:\d+$/, '')}/api/leads?page=${page + 1}"` : null}`,
  }[style];
  send(200, `{"data":${recordsFrom((page - 1) * size)},${next}}`);
}

async function listening(server: Server, scheme: string): Promise<Pick<CaseService, 'url' | 'close'>> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${scheme}://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
