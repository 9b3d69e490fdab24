import { describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { openInbox, openInboxReader } from '../../src/inbox/open-inbox.ts';
import { queriesInThisThread } from '../../src/inspect/queries/queries-in-this-thread.ts';
import { EventStreamWriter } from '../../src/inspect/event-feed.ts';
import type { WireEvent, WireRow } from '../../src/inspect/wire.ts';
import { systemClock } from '../../src/time/clock.ts';
import { arrivalOf, freshDirectory } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { inspect, linesOf } from './support.ts';

const idsIn = (events: readonly WireEvent[]) =>
  events.flatMap((event) => (event.type === 'deliveries' ? event.rows.map(({ leadId }) => leadId) : []));

const ofType = <T extends WireEvent['type']>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);

const arrivals = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => arrivalOf({ id: `${prefix}${i}` }));

describe('the stream of events', () => {
  it('tells what arrives, and resumes behind a number', async () => {
    const page = await inspect();
    await page.inbox.take(arrivals('old', 3));
    const live = linesOf<WireEvent>(await page.open('/api/events'));
    const resumed = linesOf<WireEvent>(await page.open('/api/events?after=1'));
    await expect.poll(() => idsIn(resumed)).toEqual(['old1', 'old2']);
    await page.inbox.take(arrivals('new', 2));
    await expect.poll(() => idsIn(live)).toEqual(['new0', 'new1']);
    await expect.poll(() => idsIn(resumed)).toEqual(['old1', 'old2', 'new0', 'new1']);
    expect(ofType(live, 'deliveries').at(-1)).toMatchObject({ newestSeq: 5, skipped: 0 });
  });

  it('tells of many only the newest, and how many it left out', async () => {
    const page = await inspect();
    await page.inbox.take(arrivals('l', 250));
    const events = linesOf<WireEvent>(await page.open('/api/events?after=0'));
    await expect.poll(() => events.length).toBe(1);
    expect(ofType(events, 'deliveries')[0]).toMatchObject({ newestSeq: 250, skipped: 150 });
    expect(idsIn(events)).toEqual(Array.from({ length: 100 }, (_, i) => `l${150 + i}`));
  });

  it('writes at most ten lines a second however much arrives, and is woken for the first at once', async () => {
    const page = await inspect();
    const events = linesOf<WireEvent>(await page.open('/api/events'));
    await page.inbox.take(arrivals('first', 1));
    const startedAt = performance.now();
    page.server.wake();
    await expect.poll(() => events.length, { interval: 5 }).toBe(1);
    let taken = 1;
    while (performance.now() - startedAt < 1500) {
      await page.inbox.take(arrivals(`l${taken}-`, 5));
      page.server.wake();
      taken += 5;
      await new Promise(setImmediate);
    }
    await expect.poll(() => ofType(events, 'deliveries').at(-1)?.newestSeq).toBe(taken);
    const seconds = (performance.now() - startedAt) / 1000;
    expect(events.length).toBeLessThanOrEqual(Math.ceil(seconds * 10));
    expect(events.length).toBeGreaterThan(3);
  });

  it('tells that a pending delivery was settled, that a result was kept, and that something was erased', async () => {
    const target = 'forward http://localhost:1/';
    const options = { location: ':memory:', clock: systemClock, targets: [target] };
    const page = await inspect({ inbox: await openInbox(options) });
    await page.inbox.take(arrivals('l', 2));
    const events = linesOf<WireEvent>(await page.open('/api/events?after=0'));
    await expect.poll(() => idsIn(events)).toEqual(['l0', 'l1']);
    const result = { ok: false, answer: '500', durationMs: 3, at: 1 };
    await page.inbox.release([{ leadId: 'l0', seq: 1, target, result }]);
    const changed = () => ofType(events, 'changed').flatMap(({ rows }) => rows);
    await expect.poll(changed).toMatchObject([{ seq: 1, verdict: 'pending', failed: 1, delivered: 0 }]);
    await page.inbox.settle([{ leadId: 'l0', seq: 1, target, result: { ...result, ok: true, at: 2 } }]);
    await expect.poll(() => changed().at(-1)).toMatchObject({ seq: 1, verdict: 'accepted', delivered: 1 });
    expect(ofType(events, 'removed')).toEqual([]);
    await page.inbox.erase({ leadIds: ['l1'], rejected: [] });
    await expect.poll(() => ofType(events, 'removed')).toHaveLength(1);
  });

  it('tells of an inbox that another process writes', async () => {
    const location = join(freshDirectory(), 'inbox.db');
    const writer = await openInbox({ location, clock: systemClock });
    const reader = await openInboxReader({ location, clock: systemClock });
    const page = await inspect({
      inbox: writer,
      queries: () => queriesInThisThread(reader, () => reader.close()),
    });
    const events = linesOf<WireEvent>(await page.open('/api/events'));
    await writer.take(arrivals('l', 1));
    await expect.poll(() => idsIn(events)).toEqual(['l0']);
    await writer.prune(Date.now());
    await expect.poll(() => ofType(events, 'removed')).toHaveLength(1);
    await page.server.close();
    await writer.close();
  });

  it('says that the inbox cannot be read, and that it can be again', async () => {
    let fails = false;
    const page = await inspect({
      queries: (inbox) => {
        const queries = queriesInThisThread(inbox);
        const changes: typeof queries.changes = (touched) =>
          fails ? Promise.reject(new Error('the disk is gone')) : queries.changes(touched);
        return { ...queries, changes };
      },
    });
    const events = linesOf<WireEvent>(await page.open('/api/events'));
    fails = true;
    await expect
      .poll(() => ofType(events, 'inbox'))
      .toEqual([{ type: 'inbox', problem: 'the disk is gone' }]);
    fails = false;
    await expect.poll(() => ofType(events, 'inbox').at(-1)).toEqual({ type: 'inbox', problem: null });
    await page.inbox.take(arrivals('l', 1));
    await expect.poll(() => idsIn(events)).toEqual(['l0']);
  });

  it('starts anew where the inbox is another one than the reader knows', async () => {
    const page = await inspect();
    await page.inbox.take(arrivals('l', 1));
    const events = linesOf<WireEvent>(await page.open('/api/events?after=500'));
    await expect.poll(() => ofType(events, 'removed')).toHaveLength(1);
    await page.inbox.take(arrivals('m', 1));
    await expect.poll(() => idsIn(events)).toEqual(['m0']);
  });

  it('keeps a thousand streams out, and lets the next one in when others end', async () => {
    const page = await inspect();
    const first = await Promise.all(Array.from({ length: 64 }, () => page.open('/api/events')));
    const more: number[] = [];
    for (let i = 0; i < 936; i += 72) {
      const answers = await Promise.all(Array.from({ length: 72 }, () => page.get('/api/events')));
      more.push(...answers.map(({ status }) => status));
      expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({ code: 'too-many-streams' });
    }
    expect(more).toEqual(Array.from({ length: 936 }, () => 429));
    expect((await page.get('/api/inbox')).status).toBe(200);
    for (const response of first.slice(0, 2)) response.destroy();
    await expect.poll(async () => (await page.open('/api/events')).statusCode).toBe(200);
  });

  it('lets no more in that ask at the same moment', async () => {
    const page = await inspect();
    const responses = await Promise.all(Array.from({ length: 100 }, () => page.open('/api/events')));
    const statuses = responses.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 200)).toHaveLength(64);
    expect(statuses.filter((status) => status === 429)).toHaveLength(36);
  });

  it('resumes for a reader that read nothing for a while', async () => {
    const page = await inspect();
    const response = await page.open('/api/events');
    response.socket.pause();
    for (let n = 0; n < 20; n += 1) {
      await page.inbox.take(arrivals(`l${n}-`, 50));
      page.server.wake();
      await page.get('/api/inbox');
    }
    const events = linesOf<WireEvent>(response);
    response.socket.resume();
    await expect.poll(() => ofType(events, 'deliveries').at(-1)?.newestSeq).toBe(1000);
  });
});

describe('a stream of events whose reader is behind', () => {
  const row = (seq: number) => ({ seq, verdict: 'accepted' }) as WireRow;
  const behind = () => {
    const lines: string[] = [];
    const response = {
      writableNeedDrain: true,
      write: (text: string | Uint8Array) => lines.push(String(text)) > 0,
      once: () => undefined,
      off: () => undefined,
    };
    const clock = new FakeClock();
    const stream = new EventStreamWriter(response, 0, () => clock.steady());
    const drained = () => {
      response.writableNeedDrain = false;
      for (let i = 0; i < 10; i += 1) stream.writeNext();
      return lines.filter((line) => line !== '\n').map((line) => JSON.parse(line) as WireEvent);
    };
    return { stream, lines, drained, clock };
  };

  it('gets nothing until it reads on, and of arrivals those that wait once', () => {
    const { stream, lines, drained } = behind();
    stream.arrived({ rows: [row(1)], skipped: 0, newestSeq: 1 });
    for (let i = 0; i < 100; i += 1) stream.writeNext();
    expect(lines).toEqual([]);
    // What comes meanwhile is read again from there.
    expect(stream.canArrive(5000)).toBe(false);
    expect(drained().map(({ type }) => type)).toEqual(['deliveries']);
    expect(stream.canArrive(5000)).toBe(true);
    expect(stream.after).toBe(1);
  });

  it('keeps the last state of each changed delivery, and of many says that everything is to be read again', () => {
    const { stream, drained } = behind();
    for (let i = 0; i < 1000; i += 1) stream.changed([row(1), row(2)]);
    expect(drained()).toEqual([{ type: 'changed', rows: [row(1), row(2)] }]);
    const other = behind();
    for (let i = 0; i < 10_000; i += 1) other.stream.changed([row(i)]);
    const [first, ...rest] = other.drained();
    expect(first).toEqual({ type: 'removed' });
    expect(rest.flatMap((event) => (event.type === 'changed' ? event.rows : [])).length).toBeLessThan(201);
  });

  it('is told now and then only that everything is to be read again', () => {
    const { stream, drained, clock } = behind();
    stream.removed(0);
    expect(drained()).toHaveLength(1);
    stream.removed(0);
    expect(drained()).toHaveLength(1);
    clock.advance(2000);
    expect(drained()).toHaveLength(2);
  });

  it('gets an empty line now and then', () => {
    const { stream, lines, drained, clock } = behind();
    drained();
    expect(lines).toEqual([]);
    clock.advance(5000);
    stream.writeNext();
    stream.writeNext();
    expect(lines).toEqual(['\n']);
  });
});
