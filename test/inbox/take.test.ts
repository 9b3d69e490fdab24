import { join } from 'node:path';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/inbox/sqlite/database.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { type InboxOptions, openInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { FakeClock } from '../support/clock.ts';
import { all, arrivalOf, deliveryOf, freshDirectory } from './support.ts';

const clock = new FakeClock();
const opened: Inbox[] = [];

async function open(options: Partial<InboxOptions> = {}): Promise<Inbox> {
  const inbox = await openInbox({ place: ':memory:', clock, ...options });
  opened.push(inbox);
  return inbox;
}

afterEach(async () => {
  for (const inbox of opened.splice(0)) await inbox.close();
});

const one = async (inbox: Inbox, arrival: Parameters<Inbox['take']>[0][number]) =>
  (await inbox.take([arrival]))[0];

const kinds = [':memory:', 'a file'];
const placeOf = (kind: string): string =>
  kind === ':memory:' ? kind : join(freshDirectory(), 'deep', 'inbox.db');

describe.each(kinds)('an inbox in %s', (kind) => {
  const place = (): string => placeOf(kind);

  it('accepts an id once, also within one batch, and says when it first came', async () => {
    const inbox = await open({ place: place() });
    const first = arrivalOf({ id: 'a' }, { delivery: deliveryOf('{"id":"a"}', { receivedAt: 5 }) });
    const taken = await inbox.take([first, first, arrivalOf({ id: 'b' })]);
    expect(taken.map((one) => one.kind)).toEqual(['accepted', 'duplicate', 'accepted']);
    expect(await one(inbox, first)).toMatchObject({ kind: 'duplicate', attempt: 3, firstAt: 5 });
    expect(await inbox.has('a')).toBe(true);
    expect(await inbox.has('c')).toBe(false);
  });

  it('keeps ids apart that the database would confuse', async () => {
    const inbox = await open({ place: place() });
    const ids = [
      'x',
      'x\0y',
      'x\0z',
      '\ud800',
      '\ud801',
      '\ufffd',
      'json:"x"',
      '',
      '1',
      '01',
      'é',
      'e\u0301',
    ];
    const taken = await inbox.take(ids.map((id) => arrivalOf({ id })));
    expect(taken.map((one) => one.kind)).toEqual(ids.map(() => 'accepted'));
    expect((await all(inbox.leads({}))).map((lead) => lead.leadId)).toEqual(ids);
  });

  it('keeps a repeated id with another payload and names the fields', async () => {
    const inbox = await open({ place: place() });
    const lead = { id: 'a', contact: { name: 'N', email: 'e' }, tags: [1, 2] };
    await one(inbox, arrivalOf(lead));
    const changed = { id: 'a', contact: { name: 'M', email: 'e', phone: '1' }, tags: [1, 3] };
    expect(await one(inbox, arrivalOf(changed))).toMatchObject({
      kind: 'duplicate',
      differs: ['contact.name', 'contact.phone', 'tags.1'],
    });
    const spaced = deliveryOf(JSON.stringify(lead, undefined, 2));
    expect(await one(inbox, { delivery: spaced, leadId: 'a' })).not.toHaveProperty('differs');
    const stored = await all(inbox.list({ leadId: 'a' }));
    expect(stored.map((row) => row.differs)).toEqual([
      undefined,
      ['contact.name', 'contact.phone', 'tags.1'],
      undefined,
    ]);
    expect(Buffer.from(stored[1]?.body ?? []).toString()).toBe(JSON.stringify(changed));
  });

  it('stores raw bytes, headers without credentials, and the verdict', async () => {
    const inbox = await open({
      place: place(),
      conceal: { path: () => '/p', headers: ({ rawHeaders }) => rawHeaders.map(([name]) => [name, '…']) },
    });
    const body = Uint8Array.from([0x7b, 0x22, 0x69, 0x64, 0x22, 0x3a, 0x22, 0x1b, 0xff, 0x22, 0x7d]);
    await one(inbox, {
      leadId: 'a',
      delivery: deliveryOf(body, { rawHeaders: [['X-Webhook-Token', 'secret']] }),
    });
    const [row] = await all(inbox.list({}));
    expect(row).toMatchObject({ verdict: 'accepted', status: 200, path: '/p', source: 'push', attempt: 1 });
    expect(row?.headers).toEqual([['X-Webhook-Token', '…']]);
    expect(new Uint8Array(row?.body ?? [])).toEqual(body);
  });

  it('keeps the last 1,000 refused deliveries and 16 KiB of each', async () => {
    const inbox = await open({ place: place() });
    const rejection = { kind: 'rejected', status: 401, reason: 'wrong_credential', detail: 'no' } as const;
    await one(inbox, arrivalOf({ id: 'kept' }));
    for (let i = 0; i < 1100; i += 50) {
      const some = Array.from({ length: 50 }, (_, k) =>
        deliveryOf('x'.repeat(20_000), { path: `/${i + k}` }),
      );
      await Promise.all(some.map((delivery) => inbox.reject(delivery, rejection)));
    }
    const rejected = await all(inbox.list({ verdicts: ['rejected'] }));
    expect(rejected).toHaveLength(1000);
    expect(rejected.at(-1)?.path).toBe('/100');
    expect(rejected[0]).toMatchObject({ path: '/1099', reason: 'wrong_credential', status: 401 });
    expect(rejected[0]?.body).toHaveLength(16_384);
    expect(await all(inbox.list({ verdicts: ['accepted'] }))).toHaveLength(1);
  });

  it('prunes deliveries and still knows the ids', async () => {
    const inbox = await open({ place: place() });
    await one(inbox, { leadId: 'old', delivery: deliveryOf('{"id":"old"}', { receivedAt: 1 }) });
    await one(inbox, { leadId: 'new', delivery: deliveryOf('{"id":"new"}', { receivedAt: 9 }) });
    expect(await inbox.prune(9)).toBe(1);
    expect((await all(inbox.list({}))).map((row) => row.leadId)).toEqual(['new']);
    expect((await all(inbox.leads({}))).map((lead) => lead.leadId)).toEqual(['new']);
    expect(await one(inbox, arrivalOf({ id: 'old' }))).toMatchObject({ kind: 'duplicate', firstAt: 1 });
    expect(await one(inbox, arrivalOf({ id: 'third' }))).toMatchObject({ kind: 'accepted' });
    expect((await all(inbox.list({ leadId: 'old' }))).map((row) => row.verdict)).toEqual(['duplicate']);
  });

  it('cannot name what differs from a payload that was pruned', async () => {
    const inbox = await open({ place: place() });
    await one(inbox, { leadId: 'a', delivery: deliveryOf('{"id":"a","n":1}', { receivedAt: 1 }) });
    expect(await inbox.prune(2)).toBe(1);
    const again = (n: number) => one(inbox, { leadId: 'a', delivery: deliveryOf(`{"id":"a","n":${n}}`) });
    expect(await again(1)).not.toHaveProperty('differs');
    expect(await again(2)).toMatchObject({ kind: 'duplicate', attempt: 3, differs: ['*'] });
  });

  it('keeps bodies and headers of every size and script', async () => {
    const inbox = await open({ place: place() });
    const bodies = [0, 1, 700_000, 700_000, 3_000_000].map((size) => new Uint8Array(size).fill(size % 251));
    const rawHeaders = [['X-Name', 'Zoë \u{1f600}']] as const;
    await inbox.take(
      bodies.map((body, i) => ({ leadId: `l${i}`, delivery: deliveryOf(body, { rawHeaders }) })),
    );
    bodies.forEach((body) => body.fill(7));
    const rows = (await all(inbox.list({}))).reverse();
    expect(rows.map(({ body }) => [body.length, body.every((byte) => byte === body.length % 251)])).toEqual(
      bodies.map(({ length }) => [length, true]),
    );
    expect(rows.map(({ headers }) => headers)).toEqual(bodies.map(() => rawHeaders));
    expect((await all(inbox.list({ leadId: 'l2' }))).map(({ seq }) => seq)).toEqual([3]);
    expect((await all(inbox.list({ seq: 4 }))).map(({ leadId }) => leadId)).toEqual(['l3']);
  });

  it('lists newest first, through every filter, over more than one page', async () => {
    const inbox = await open({ place: place() });
    const many = Array.from({ length: 450 }, (_, i) => ({
      leadId: `l${i}`,
      delivery: deliveryOf(`{"id":"l${i}"}`, { receivedAt: i }),
    }));
    await inbox.take(many);
    const seen = (await all(inbox.list({}))).map((row) => row.leadId);
    expect(seen).toEqual(many.map((one) => one.leadId).reverse());
    expect(await all(inbox.list({ since: 10, until: 300 }))).toHaveLength(290);
    expect((await all(inbox.leads({ since: 10, until: 300 }))).map((one) => one.receivedAt)).toEqual(
      Array.from({ length: 290 }, (_, i) => i + 10),
    );
  });
});

describe('work asked for with each lead', () => {
  const targets = ['forward https://app.test/', 'output /tmp/x'];

  it.each(kinds)('is a duplicate only once every target has had it, in %s', async (kind) => {
    const inbox = await open({ place: placeOf(kind), targets, leaseMs: 1000 });
    const first = await one(inbox, arrivalOf({ id: 'a' }));
    expect(first).toMatchObject({ kind: 'pending', targets, busy: false });
    const entry = first as { leadId: string; seq: number };
    expect(await inbox.settle(entry, targets[0] ?? '')).toBe('pending');
    const retry = await one(inbox, arrivalOf({ id: 'a' }));
    expect(retry).toMatchObject({ kind: 'pending', targets: [targets[1]], attempt: 2 });
    expect(await all(inbox.leads({}))).toHaveLength(0);
    expect(await inbox.unsettled(targets[1] ?? '')).toEqual([{ leadId: 'a', seq: 1 }]);
    expect(await inbox.settle(entry, targets[1] ?? '')).toBe('accepted');
    expect(await one(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate', attempt: 3 });
    expect(await all(inbox.leads({}))).toHaveLength(1);
    expect((await all(inbox.list({}))).map((row) => row.verdict)).toEqual([
      'duplicate',
      'pending',
      'accepted',
    ]);
  });

  it('is claimed by one receiver at a time, and free again after the lease', async () => {
    const place = join(freshDirectory(), 'inbox.db');
    const here = await open({ place, targets: ['t'], leaseMs: 1000 });
    const there = await open({ place, targets: ['t'], leaseMs: 1000 });
    const mine = await one(here, arrivalOf({ id: 'a' }));
    expect(mine).toMatchObject({ targets: ['t'], busy: false });
    expect(await one(there, arrivalOf({ id: 'a' }))).toMatchObject({
      kind: 'pending',
      targets: [],
      busy: true,
    });
    await here.release(mine as { leadId: string; seq: number }, 't');
    expect(await one(there, arrivalOf({ id: 'a' }))).toMatchObject({ targets: ['t'], busy: false });
    expect(await one(here, arrivalOf({ id: 'a' }))).toMatchObject({ busy: true });
    clock.advance(1001);
    expect(await one(here, arrivalOf({ id: 'a' }))).toMatchObject({ targets: ['t'], busy: false });
  });

  it.each([
    ['is free at once', hostname(), { targets: ['t'], busy: false }],
    // As in two containers on one volume, where every run has the same pid.
    ['is left to it', 'elsewhere.example', { targets: [], busy: true }],
  ])('of a receiver with our pid %s when its host is %s', async (_, host, expected) => {
    const place = join(freshDirectory(), 'inbox.db');
    const before = await open({ place, targets: ['t'], leaseMs: 1000 });
    await one(before, arrivalOf({ id: 'a' }));
    await before.close();
    const database = await openDatabase(place);
    const holder = JSON.stringify({ pid: process.pid, host, started: null, token: 'of another run' });
    database.prepare('UPDATE work SET owner = ?').run([holder]);
    database.close();
    const after = await open({ place, targets: ['t'], leaseMs: 1000, pid: process.pid });
    expect(await one(after, arrivalOf({ id: 'a' }))).toMatchObject(expected);
  });

  it('takes a lead in when an earlier run left it pending and this one asks for nothing', async () => {
    const place = join(freshDirectory(), 'inbox.db');
    const before = await open({ place, targets: ['t'], leaseMs: 0 });
    await one(before, arrivalOf({ id: 'a' }));
    const after = await open({ place });
    expect(await one(after, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted', attempt: 2 });
    expect(await one(after, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
    expect((await all(after.leads({}))).map((lead) => lead.leadId)).toEqual(['a']);
  });

  it.each(kinds)('keeps the body of a lead that something is still to be done for, in %s', async (kind) => {
    const inbox = await open({ place: placeOf(kind), targets: ['t'], leaseMs: 0 });
    await one(inbox, arrivalOf({ id: 'a' }));
    expect(await inbox.prune(clock.now())).toBe(0);
    expect(await all(inbox.list({}))).toHaveLength(1);
  });
});

describe('the replay guard', () => {
  it.each(kinds)('is bounded by the time for which a nonce is good, in %s', async (kind) => {
    const inbox = await open({ place: placeOf(kind), nonceLifetimeMs: 1000 });
    const kindOf = async (id: string, nonce: string) =>
      (await one(inbox, arrivalOf({ id }, { nonce })))?.kind;
    expect(await kindOf('a', 'n')).toBe('accepted');
    expect(await kindOf('a', 'n')).toBe('duplicate');
    expect(await kindOf('b', 'n')).toBe('rejected');
    expect(await inbox.has('b')).toBe(false);
    expect((await all(inbox.list({}))).map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ['rejected', 'replayed_nonce'],
      ['duplicate', undefined],
      ['accepted', undefined],
    ]);
    clock.advance(1001);
    expect(await kindOf('c', 'm')).toBe('accepted');
    expect(await kindOf('b', 'n')).toBe('accepted');
    expect(await kindOf('d', 'm')).toBe('rejected');
  });

  it('binds a nonce to its body, over a restart, until its time is past', async () => {
    const place = join(freshDirectory(), 'inbox.db');
    const options = { place, nonceLifetimeMs: 1000 };
    const first = await openInbox({ clock, ...options });
    const arrival = arrivalOf({ id: 'a' }, { nonce: 'n' });
    expect(await one(first, arrival)).toMatchObject({ kind: 'accepted' });
    expect(await one(first, arrival)).toMatchObject({ kind: 'duplicate' });
    expect(await one(first, arrivalOf({ id: 'b' }, { nonce: 'n' }))).toMatchObject({
      kind: 'rejected',
      status: 401,
      reason: 'replayed_nonce',
    });
    await first.close();
    const second = await open(options);
    expect(await one(second, arrivalOf({ id: 'b' }, { nonce: 'n' }))).toMatchObject({ kind: 'rejected' });
    expect(await one(second, arrival)).toMatchObject({ kind: 'duplicate' });
    expect(await second.has('b')).toBe(false);
    clock.advance(1001);
    expect(await one(second, arrivalOf({ id: 'b' }, { nonce: 'n' }))).toMatchObject({ kind: 'accepted' });
  });
});

it('keeps its file to the owner', async () => {
  const place = join(freshDirectory(), 'deep', 'inbox.db');
  const inbox = await open({ place });
  await one(inbox, arrivalOf({ id: 'a' }));
  const modes = [place, `${place}-wal`, `${place}-shm`, join(place, '..')].map(
    (path) => statSync(path).mode & 0o777,
  );
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o700]);
});
