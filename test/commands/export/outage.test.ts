import type { ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { freshHome, leads, type LiveRun, startLeads } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: Scripted | undefined;
afterEach(() => service?.close());

const env = (at: Scripted) => ({ LEADS_API_KEY: 'key-0123456789', LEADS_BASE_URL: at.url });

/** `away` answers while it is set; otherwise everything that was stored so far is listed. */
async function stallingService(): Promise<{
  readonly at: Scripted;
  readonly stored: { id: string; createdAt: string }[];
  away: ((response: ServerResponse) => void) | undefined;
}> {
  const state = {
    stored: [{ id: '1', createdAt: new Date(Date.now() - 5000).toISOString() }],
    away: undefined as ((response: ServerResponse) => void) | undefined,
  };
  const at = await scripted((_, response) => {
    if (state.away === undefined) sendJson(response, { data: state.stored, has_more: false });
    else state.away(response);
  });
  service = at;
  return Object.assign(state, { at });
}

const reset = (response: ServerResponse): void => void response.destroy();
const busy = (response: ServerResponse): void => void response.writeHead(503).end();
const page = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
const refuse = (response: ServerResponse): void => void response.writeHead(401).end();

const count = (text: string, part: string): number => text.split(part).length - 1;
const idsOf = (run: LiveRun): string[] => run.stdout.text().match(/"id":"\d+"/g) ?? [];

describe.each([
  ['export --follow', ['export', '--follow', '10s']],
  ['list --watch', ['list', '--watch', '10s', '--format', 'ndjson']],
])('%s', (_, argv) => {
  it.each([
    ['closes connections', reset, 'the connection was'],
    ['fails', busy, 'the service answered 503'],
    ['answers with a page for people', page, 'text/html'],
  ])('outlives a service that %s, and says so twice', async (_name, how, why) => {
    const box = await stallingService();
    const live = startLeads([...argv, '--retries', '1'], { env: env(box.at) });
    await until(() => idsOf(live).length === 1);
    box.away = how;
    const before = box.at.requests.length;
    await until(() => box.at.requests.length > before + 8);
    box.stored.unshift({ id: '2', createdAt: new Date().toISOString() });
    box.away = undefined;
    await until(() => idsOf(live).length === 2);
    live.abort(new InterruptedError('SIGINT'));
    const { exitCode, stdout, stderr } = await live.done;
    expect(exitCode).toBe(0);
    expect(stdout.match(/"id":"\d"/g)).toEqual(['"id":"1"', '"id":"2"']);
    expect(stderr).toContain(why);
    expect(count(stderr, 'trying again every 10s\n')).toBe(1);
    expect(count(stderr, 'the service answers again, after ')).toBe(1);
  });

  it('writes the new leads of an answer whose next page lies at another origin', async () => {
    const box = await stallingService();
    const live = startLeads(argv, { env: env(box.at) });
    await until(() => idsOf(live).length === 1);
    box.stored.unshift({ id: '2', createdAt: new Date().toISOString() });
    let isAsked = false;
    box.away = (response) => {
      isAsked = true;
      sendJson(response, { data: box.stored, next: 'http://internal.example:8080/leads?cursor=2' });
    };
    await until(() => isAsked);
    box.away = undefined;
    await until(() => idsOf(live).length > 1 || live.stderr.text().includes('answers again'));
    live.abort(new InterruptedError('SIGINT'));
    const { exitCode, stdout, stderr } = await live.done;
    expect(exitCode).toBe(0);
    expect(stderr).toContain('another origin');
    expect(stdout.match(/"id":"\d"/g)).toEqual(['"id":"1"', '"id":"2"']);
  });

  it('waits for a service that is not there yet', async () => {
    const box = await stallingService();
    box.away = reset;
    const live = startLeads([...argv, '--retries', '0'], { env: env(box.at) });
    await until(() => box.at.requests.length > 3);
    box.away = undefined;
    await until(() => idsOf(live).length === 1);
    live.abort(new InterruptedError('SIGINT'));
    expect((await live.done).exitCode).toBe(0);
  });

  it('ends when the key is rejected, which does not heal', async () => {
    const box = await stallingService();
    const live = startLeads(argv, { env: env(box.at) });
    await until(() => idsOf(live).length === 1);
    box.away = refuse;
    expect((await live.done).exitCode).toBe(4);
  });

  it('does not wait for a service that never answered properly', async () => {
    const box = await stallingService();
    box.away = page;
    expect((await leads(argv, { env: env(box.at) })).exitCode).toBe(6);
  });
});

it('export --follow -o keeps what came before an outage of its first walk', async () => {
  let isAway = true;
  service = await scripted((request, response) => {
    const second = request.url?.includes('cursor=2') === true;
    if (second && isAway) response.writeHead(503).end();
    else sendJson(response, { data: [{ id: second ? '2' : '1' }], next_cursor: second ? null : '2' });
  });
  const file = join(freshHome(), 'out');
  const argv = ['export', '--follow', '10s', '--limit', '2', '--retries', '0', '-o', file];
  const live = startLeads(argv, { env: env(service) });
  await until(() => live.stderr.text().includes('trying again'));
  isAway = false;
  expect((await live.done).exitCode).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('{"id":"1"}\n{"id":"2"}\n');
});

describe('export --follow -o that goes on where an earlier run had stopped', () => {
  /** Stopped at the fourth page of five; then each request is answered `status` for which `fails` holds. */
  async function goOn(status: number, fails: (cursor: string, nth: number) => boolean) {
    let isNextDay = false;
    const asked: string[] = [];
    service = await scripted((request, response) => {
      const cursor = new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 'front';
      const at = Number(/\d/.exec(cursor)?.[0] ?? 0);
      asked.push(cursor);
      if (isNextDay && fails(cursor, asked.length)) response.writeHead(status).end();
      else if (!isNextDay && at === 3) response.writeHead(401).end();
      else {
        const next = at < 4 ? `${isNextDay ? 'new' : 'old'}${at + 1}` : null;
        sendJson(response, { data: [{ id: String(at) }], next_cursor: next });
      }
    });
    const home = freshHome();
    const file = join(home, 'out');
    const argv = ['export', '-o', file, '--resume', '--follow', '10s', '--limit', '5', '--retries', '0'];
    expect((await leads(argv, { env: env(service), home })).exitCode).toBe(4);
    isNextDay = true;
    asked.length = 0;
    const { exitCode } = await leads(argv, { env: env(service), home });
    return { exitCode, asked, written: readFileSync(file, 'utf8').match(/\d/g) };
  }

  const written = ['0', '1', '2', '3', '4'];
  const fromFront = ['front', 'new1', 'new2', 'new3', 'new4'];

  it.each([500, 501])('reads from the first page where that position is answered %d', async (status) => {
    const run = await goOn(status, (cursor) => cursor.startsWith('old'));
    expect(run).toEqual({ exitCode: 0, written, asked: ['old3', ...fromFront] });
  });

  it('does so again where the first pages failed as well', async () => {
    const run = await goOn(500, (cursor, nth) => cursor.startsWith('old') || nth === 4);
    expect(run).toEqual({
      exitCode: 0,
      written,
      asked: ['old3', 'front', 'new1', 'new2', 'old3', ...fromFront],
    });
  });

  it('goes on there where the service answers again', async () => {
    // The first page is asked for smaller as well, since that may be why it fails.
    const run = await goOn(500, (_, nth) => nth < 5);
    expect(run).toEqual({
      exitCode: 0,
      written,
      asked: ['old3', 'front', 'front', 'front', 'old3', 'new4'],
    });
  });
});
