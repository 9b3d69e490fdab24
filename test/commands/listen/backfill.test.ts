import type { ServerResponse } from 'node:http';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { openInboxReader } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { FakeClock } from '../../support/clock.ts';
import { homeWith, leads } from '../../support/run.ts';
import { sendJson } from '../../support/service.ts';
import { serving } from '../export/support.ts';
import { until } from '../../support/until.ts';
import { answering, appInEachTest } from './app.ts';
import { type Listener, listenInEachTest } from './support.ts';

const start = listenInEachTest();
const appAt = appInEachTest();

const every = 900_000;
const rounds = ['--backfill-every', '15m', '--format', 'events', '--retries', '0'];

interface FakeService {
  /** Ids that it lists. */
  readonly ids: string[];
  readonly requests: readonly string[];
  readonly env: Record<string, string>;
  /** Answers instead of the list, while it is set. */
  answer: ((response: ServerResponse) => void) | undefined;
  list(response: ServerResponse): void;
}

async function startService(...ids: string[]): Promise<FakeService> {
  const created = new Date(Date.now() - 60_000).toISOString();
  const server = await serving((_, response) => (service.answer ?? service.list)(response));
  const env = { LEADS_API_KEY: 'k', LEADS_BASE_URL: server.url };
  const service: FakeService = {
    ...{ ids, requests: server.requests, env, answer: undefined },
    list(response) {
      const data = ids.map((id) => ({ id, category: 'solar', createdAt: created }));
      sendJson(response, { data, next_cursor: null });
    },
  };
  return service;
}

const fail =
  (status: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end();

const startRounds = (argv: readonly string[], { env }: FakeService, home?: string): Promise<Listener> =>
  start([...rounds, ...(argv.includes('--backfill') ? [] : ['--backfill', '24h']), ...argv], {
    env,
    clock: new FakeClock(Date.now()),
    ...(home === undefined ? {} : { home }),
  });

const pauses = ({ clock }: Listener): number => clock.sleeps.filter((ms) => ms === every).length;

/** Resolves when the first `count` rounds are over. */
const over = (listener: Listener, count: number): Promise<void> =>
  until(() => pauses(listener) >= count, `the end of round ${count}`);

async function nextRound(listener: Listener): Promise<void> {
  const before = pauses(listener);
  listener.clock.advance(every);
  await over(listener, before + 1);
}

const said = ({ stderr }: Listener): string[] =>
  stderr
    .text()
    .split('\n')
    .filter((line) => line.includes('backfill'));

const eventsOf = (listener: Listener, type: string): Record<string, unknown>[] =>
  listener.events().filter((event) => event['type'] === type);

async function stored({ home }: Listener): Promise<string[]> {
  const inbox = await openInboxReader({ location: `${home}/data/inbox.db`, clock: systemClock });
  const found: string[] = [];
  for await (const { leadId, verdict, source } of inbox.list({}))
    found.push(`${leadId ?? ''} ${verdict} ${source}`);
  await inbox.close();
  return found.reverse();
}

describe('--backfill-every', () => {
  it('fetches what is listed late, however close the rounds follow each other', async () => {
    const service = await startService();
    const listener = await start(
      ['--backfill', '15m', '--backfill-every', '15m', '--format', 'events', '--retries', '0'],
      { env: service.env, clock: new FakeClock(Date.now()) },
    );
    await over(listener, 1);
    // Created a minute before the first round, which did not find it.
    service.ids.push('late');
    await nextRound(listener);
    expect(await stored(listener)).toEqual(['late accepted backfill']);
  });

  it('fetches in each round what the inbox lacks, and says only what a round found', async () => {
    const service = await startService('a');
    const app = await appAt(answering(204));
    const listener = await startRounds(['--forward-to', app.url], service);
    await over(listener, 1);
    await nextRound(listener);
    expect(said(listener)).toEqual(['backfill: 1 fetched, 0 already known']);
    service.ids.push('b');
    await nextRound(listener);
    expect((await listener.post({ id: 'a' })).body).toMatchObject({ status: 'duplicate' });
    await listener.stop();
    expect(said(listener)).toEqual([
      'backfill: 1 fetched, 0 already known',
      'backfill: 1 fetched, 1 already known',
    ]);
    expect(eventsOf(listener, 'backfill')).toMatchObject([
      { round: 1, fetched: 1, known: 0, notStored: 0, complete: true, error: null },
      { round: 3, fetched: 1, known: 1, notStored: 0, complete: true, error: null },
    ]);
    expect(listener.deliveries()).toMatchObject([
      { leadId: 'a', verdict: 'accepted', source: 'backfill' },
      { leadId: 'b', verdict: 'accepted', source: 'backfill' },
      { leadId: 'a', verdict: 'duplicate', source: 'push' },
    ]);
    expect(app.received).toHaveLength(2);
  });

  it('is wrong usage without --backfill, or more often than once a second', async () => {
    const alone = await leads(['listen', '--token', 't', '--backfill-every', '15m']);
    expect(alone.exitCode).toBe(2);
    expect(alone.stderr).toContain('--backfill-every needs --backfill');
    const often = await leads(['listen', '--token', 't', '--backfill', '1d', '--backfill-every', '999ms']);
    expect(often.exitCode).toBe(2);
    expect(often.stderr).toContain('a second or more');
  });
});

describe('--backfill-every beside a service that fails', () => {
  it('says an outage once, in whichever way it shows, tries again in each round, and says its end', async () => {
    const service = await startService('a');
    service.answer = fail(503);
    const listener = await startRounds([], service);
    await over(listener, 1);
    service.answer = (response) => void response.destroy();
    await nextRound(listener);
    expect(said(listener)).toHaveLength(1);
    expect(said(listener)[0]).toMatch(
      /^warning: the backfill ended early: .*503.*; trying again every 15m 0s$/,
    );
    expect((await listener.post({ id: 'pushed' })).status).toBe(200);
    service.answer = undefined;
    await nextRound(listener);
    expect(said(listener).slice(1)).toEqual([
      'the backfill works again, after 30m 0s',
      'backfill: 1 fetched, 0 already known',
    ]);
    service.answer = fail(500);
    await nextRound(listener);
    expect(said(listener)).toHaveLength(4);
    expect(eventsOf(listener, 'backfill').map(({ complete }) => complete)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('says once how many leads it cannot store, since they have no id by the name of the profile', async () => {
    const service = await startService();
    const createdAt = new Date().toISOString();
    const data = [
      { id: 'x', createdAt },
      { ref: 1.5, createdAt },
      { ref: 'a', createdAt },
      { createdAt: '2001-01-01' },
    ];
    service.answer = (response) => sendJson(response, { data, next_cursor: null });
    const listener = await startRounds([], service, homeWith({ api: { id: 'ref' } }));
    await over(listener, 1);
    await nextRound(listener);
    expect(said(listener)).toEqual([
      'note: 2 leads of the service have no id: the backfill cannot take them in',
      'backfill: 1 fetched, 0 already known',
    ]);
  });

  it('says once that a round meets no lead of the one before, takes what it lists, and compares the next one with it', async () => {
    const service = await startService('a', 'b');
    const listener = await startRounds([], service);
    await over(listener, 1);
    service.ids.splice(0, 2, 'c');
    await nextRound(listener);
    service.ids.push('d');
    await nextRound(listener);
    service.ids.splice(0, 2, 'e');
    await nextRound(listener);
    expect(said(listener)).toEqual([
      'backfill: 2 fetched, 0 already known',
      'warning: the backfill may lack leads: none of the 2 newest leads of the run before came again',
      'backfill: 1 fetched, 0 already known',
      'backfill: 1 fetched, 1 already known',
      'backfill: 1 fetched, 0 already known',
    ]);
    const ends = () => eventsOf(listener, 'backfill').map(({ complete }) => complete);
    await expect.poll(ends).toEqual([true, false, true, false]);
  });
});

describe('--backfill-every after a time without rounds that read the list', () => {
  const hour = 3_600_000;

  it('reaches back to before an outage that was longer than the window', async () => {
    const service = await startService('a');
    service.answer = fail(503);
    const listener = await startRounds([], service);
    await over(listener, 1);
    listener.clock.advance(25 * hour);
    await over(listener, 2);
    service.answer = undefined;
    await nextRound(listener);
    expect(said(listener).at(-1)).toBe('backfill: 1 fetched, 0 already known');
    await nextRound(listener);
    expect(eventsOf(listener, 'backfill')).toHaveLength(3);
  });

  it('reaches back to the last round, where the next one comes later than the window is long', async () => {
    const service = await startService();
    const listener = await startRounds([], service);
    await over(listener, 1);
    const createdAt = new Date(listener.clock.now() + hour).toISOString();
    service.answer = (response) => sendJson(response, { data: [{ id: 'a', createdAt }], next_cursor: null });
    listener.clock.advance(30 * hour);
    await over(listener, 2);
    expect(said(listener).at(-1)).toBe('backfill: 1 fetched, 0 already known');
  });

  it('reaches back to everything, however long the window is', async () => {
    const listener = await startRounds(['--backfill', '99999999999d'], await startService('a'));
    await over(listener, 1);
    expect(said(listener)).toEqual(['backfill: 1 fetched, 0 already known']);
  });

  it('lists those again that the inbox could not take', async () => {
    const service = await startService();
    const listener = await startRounds([], service);
    await over(listener, 1);
    const createdAt = new Date(listener.clock.now()).toISOString();
    service.answer = (response) => sendJson(response, { data: [{ id: 'b', createdAt }], next_cursor: null });
    const database = new Libsql(`${listener.home}/data/inbox.db`);
    database.exec("CREATE TRIGGER full BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'full'); END");
    await nextRound(listener);
    expect(said(listener).at(-1)).toBe('backfill: 0 fetched, 0 already known, 1 not stored');
    const failed = expect.objectContaining({ round: 2, complete: false, error: '1 not stored' }) as unknown;
    await expect.poll(() => eventsOf(listener, 'backfill')).toContainEqual(failed);
    listener.clock.advance(25 * hour);
    await over(listener, 3);
    database.exec('DROP TRIGGER full');
    database.close();
    await nextRound(listener);
    expect(said(listener).at(-1)).toBe('backfill: 1 fetched, 0 already known');
  });
});

describe('the end of a run with --backfill-every', () => {
  it('comes with --count, in the middle of a round', async () => {
    const service = await startService(...Array.from({ length: 200 }, (_, i) => `l${i}`));
    const listener = await startRounds(['--count', '3'], service);
    const { exitCode } = await listener.done;
    expect(exitCode).toBe(0);
    expect(listener.deliveries().length).toBeLessThan(200);
  });
});
