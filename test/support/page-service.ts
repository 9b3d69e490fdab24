import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type OpenServer, openServer } from './open-server.ts';

export interface PageServiceOptions {
  readonly leads: number;
  readonly pageSize: number;
  /** `none`: one array of all of them. */
  readonly pagination: 'cursor' | 'page' | 'none';
  /** Before each answer. */
  readonly latencyMs?: number;
}

export interface PageService extends OpenServer {
  readonly bytes: number;
}

/** About 460 bytes each, as the specification shows a lead, with some text that is not ASCII. */
export function benchLead(i: number): string {
  const id = `${i.toString(16).padStart(8, '0')}-7a1c-4e5b-9d2f-${(i * 7919).toString(16).padStart(12, '0')}`;
  const created = new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString();
  return (
    `{"id":"${id}","category":"${['solar', 'roofing', 'legal'][i % 3] ?? ''}","contact":{"name":"Zoë Müller ${i}",` +
    `"email":"zoe.mueller${i}@example.com","phone":"+49 30 ${1_000_000 + i}"},"metadata":{"source":"facebook",` +
    `"campaign":"spring-2026","utm":{"medium":"cpc","term":"solar panels near me"},"score":0.${1 + (i % 9)},` +
    `"note":"asked for a call back after 6 pm, \\"urgent\\"","tags":["a","b"],"consent":true,"budget":null},` +
    `"createdAt":"${created}","status":"new"}`
  );
}

/** A cursor of digits alone may be a position that moves; this one is opaque, as a keyset's cursor is. */
export const cursorPrefix = 'after-';
const cursorOf = (nth: number): string => `${cursorPrefix}${nth}`;

/** The page behind the last one. */
const none = Buffer.from('{"data":[]}');

/** Serves pages that were built beforehand, as fast as node can. */
export async function servePages(options: PageServiceOptions): Promise<PageService> {
  const { leads, pagination, latencyMs = 0 } = options;
  const pageSize = pagination === 'none' ? leads : options.pageSize;
  const pages: Buffer[][] = [];
  for (let start = 0; start < leads; start += pageSize) {
    pages.push(buildPage(start, Math.min(leads, start + pageSize), leads, pages.length, pagination));
  }
  const lengths = pages.map((page) => page.reduce((sum, part) => sum + part.length, 0));
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const asked = searchParams.get(pagination);
    const nth =
      pagination === 'page'
        ? Number(asked ?? 1) - 1
        : Number((asked ?? cursorOf(0)).slice(cursorPrefix.length));
    const answer = async (): Promise<void> => {
      if (latencyMs > 0) await pause(latencyMs);
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': lengths[nth] ?? none.length,
      });
      for (const part of pages[nth] ?? [none]) {
        if (!response.write(part)) await once(response, 'drain');
      }
      response.end();
    };
    answer().catch(() => response.destroy());
  });
  return { ...(await openServer(server)), bytes: lengths.reduce((sum, length) => sum + length, 0) };
}

function buildPage(start: number, end: number, total: number, nth: number, pagination: string): Buffer[] {
  const parts: Buffer[] = [Buffer.from('{"data":[')];
  for (let from = start; from < end; from += 1000) {
    const records: string[] = [];
    for (let i = from; i < Math.min(end, from + 1000); i += 1) records.push(benchLead(i));
    parts.push(Buffer.from(`${from === start ? '' : ','}${records.join(',')}`));
  }
  const more = end < total;
  const way =
    pagination === 'cursor'
      ? `,"next_cursor":${more ? `"${cursorOf(nth + 1)}"` : 'null'}`
      : pagination === 'page'
        ? `,"page":${nth + 1},"total":${total}`
        : '';
  parts.push(Buffer.from(`]${way}}`));
  return parts;
}
