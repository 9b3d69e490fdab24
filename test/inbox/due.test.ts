import { describe, expect, it } from 'vitest';
import type { DueLead, Inbox, TargetLease } from '../../src/inbox/inbox.ts';
import { clock, open, sharedStores, stores, takeOne, takeStored } from './stores.ts';
import { all, arrivalOf, deliveryOf } from './support.ts';

const app = 'forward http://app.test:3000/hook';
const mail = 'exec mail';
const result = { ok: false, answer: '502', durationMs: 12, at: 5, kind: 'forward' } as const;
const minute = 60_000;
/** A database's own time goes on between two openings, other than the tests' clock. */
const skew = minute / 2;

const idsOf = (due: readonly DueLead[]): readonly string[] => due.map(({ leadId }) => leadId);

const dueNow = async (inbox: Inbox, target = app): Promise<readonly string[]> =>
  idsOf(await inbox.due(target, clock.now(), 100));

const dead = async (inbox: Inbox): Promise<readonly (string | undefined)[]> =>
  (await all(inbox.list({ verdicts: ['dead'] }))).map(({ leadId }) => leadId);

/** Takes a lead that comes now, of which the app takes nothing: it is to be tried again in so many minutes. */
async function failed(inbox: Inbox, id: string, minutes: number): Promise<TargetLease> {
  const lead = { id };
  const delivery = deliveryOf(JSON.stringify(lead), { receivedAt: clock.now() });
  const lease = { ...(await takeStored(inbox, arrivalOf(lead, { delivery }))), target: app };
  await inbox.release([{ ...lease, result, retryAt: clock.now() + minutes * minute }]);
  return lease;
}

describe.each(stores)('what is to be tried again in $name', ({ newLocation }) => {
  it('is given when its time has come, earliest first, with what is known of it', async () => {
    const inbox = await open(newLocation(), { targets: [app, mail], leaseMs: minute });
    const since = clock.now();
    const { seq } = await failed(inbox, 'late', 20);
    await failed(inbox, 'early', 10);
    expect(await dueNow(inbox)).toEqual([]);
    expect(await inbox.nextDueAt(app)).toBe(since + 10 * minute);
    clock.advance(10 * minute);
    expect(await dueNow(inbox)).toEqual(['early']);
    clock.advance(10 * minute);
    expect(await dueNow(inbox)).toEqual(['early', 'late']);
    expect(idsOf(await inbox.due(app, clock.now(), 1))).toEqual(['early']);
    expect((await inbox.due(app, clock.now(), 9))[1]).toEqual({
      leadId: 'late',
      seq,
      tries: 1,
      since,
      dueAt: since + 20 * minute,
    });
  });

  it('is not what is being tried: that is due when the lease ends', async () => {
    const inbox = await open(newLocation(), { targets: [app], leaseMs: minute });
    const leasedUntil = clock.now() + minute;
    const lease = { ...(await takeStored(inbox, arrivalOf({ id: 'a' }))), target: app };
    expect(await dueNow(inbox)).toEqual([]);
    expect(await inbox.nextDueAt(app)).toBe(leasedUntil);
    clock.advance(minute);
    expect(await dueNow(inbox)).toEqual(['a']);
    expect(await inbox.lease([lease])).toEqual([{ state: 'leased', tries: 0 }]);
    expect(await dueNow(inbox)).toEqual([]);
    await inbox.settle([{ ...lease, result }]);
    expect(await inbox.nextDueAt(app)).toBeUndefined();
    clock.advance(minute);
    expect(await dueNow(inbox)).toEqual([]);
  });

  it('is asked about some leads, and is those of them that are neither had nor dead', async () => {
    const inbox = await open(newLocation(), { targets: [app, mail], leaseMs: minute });
    for (const [i, id] of ['c', 'é', 'other', 'later'].entries()) await failed(inbox, id, i);
    await inbox.release([{ ...(await failed(inbox, 'dead', 0)), dead: true }]);
    await inbox.settle([await failed(inbox, 'had', 0)]);
    const asked = ['later', 'é', 'dead', 'had', 'unknown', 'c'];
    const by = clock.now() + 2 * minute;
    expect(idsOf(await inbox.due(app, by, 9, asked))).toEqual(['c', 'é']);
    expect(idsOf(await inbox.due(app, Number.MAX_SAFE_INTEGER, 9, asked))).toEqual(['c', 'é', 'later']);
    expect(await inbox.due(app, by, 1, asked)).toEqual(await inbox.due(app, by, 1));
    expect(await inbox.due(app, by, 9, [])).toEqual([]);
  });

  it('is what was released without a time, at once', async () => {
    const inbox = await open(newLocation(), { targets: [app], leaseMs: minute });
    await inbox.release([{ ...(await takeStored(inbox, arrivalOf({ id: 'a' }))), target: app }]);
    expect(await inbox.due(app, clock.now(), 9)).toMatchObject([{ leadId: 'a', tries: 0 }]);
  });

  it('keeps the number of tries at each target', async () => {
    const inbox = await open(newLocation(), { targets: [app, mail], leaseMs: minute });
    const lease = await failed(inbox, 'a', 1);
    await inbox.release([{ ...lease, target: mail }]);
    expect(await inbox.lease([lease, { ...lease, target: mail }])).toEqual([
      { state: 'leased', tries: 1 },
      { state: 'leased', tries: 0 },
    ]);
    await inbox.release([{ ...lease, result, retryAt: 0 }]);
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({
      targets: [
        { name: app, tries: 2 },
        { name: mail, tries: 0 },
      ],
    });
  });

  it('is little at a time where there are thousands', async () => {
    const inbox = await open(newLocation(), { targets: [app] });
    const taken = await inbox.take(Array.from({ length: 3000 }, (_, i) => arrivalOf({ id: `l${i}` })));
    const now = clock.now();
    await inbox.release(
      taken.map((one, i) => {
        if (one.kind === 'rejected') throw new Error(one.detail);
        return { leadId: one.leadId, seq: one.seq, target: app, result, retryAt: now + ((i * 7) % 3000) };
      }),
    );
    clock.advance(3000);
    const due = await inbox.due(app, now + 1499, 2000);
    expect(due.map(({ dueAt }) => dueAt - now)).toEqual(Array.from({ length: 1500 }, (_, i) => i));
  });

  it('is in order after some were had, given up, tried and begun anew', async () => {
    const inbox = await open(newLocation(), { targets: [app], leaseMs: minute });
    const leases: TargetLease[] = [];
    for (let i = 0; i < 40; i += 1) leases.push(await failed(inbox, `l${i}`, 1 + ((i * 17) % 40)));
    const every = (rest: number) => leases.filter((_, i) => i % 5 === rest);
    await inbox.settle(every(0));
    await inbox.release(every(1).map((lease) => ({ ...lease, dead: true })));
    await inbox.release(every(2).map((lease, i) => ({ ...lease, retryAt: clock.now() + (50 - i) * minute })));
    await inbox.beginAnew(every(3).map(({ leadId }) => leadId));
    const now = clock.now();
    clock.advance(60 * minute);
    const due = await inbox.due(app, clock.now(), 100);
    const minutes = due.map(({ dueAt }) => (dueAt - now) / minute);
    expect(minutes).toEqual([...minutes].sort((a, b) => a - b));
    const expected = leases.flatMap((lease, i) => (i % 5 < 2 ? [] : [lease.leadId]));
    expect([...idsOf(due)].sort()).toEqual(expected.sort());
    expect(await inbox.nextDueAt(app)).toBe(now);
    expect(await inbox.due(app, clock.now(), 100)).toHaveLength(due.length);
    await inbox.lease(due.map((one) => ({ ...one, target: app })));
    expect(await inbox.nextDueAt(app)).toBe(clock.now() + minute);
  });

  it('is nothing of a lead that was erased', async () => {
    const inbox = await open(newLocation(), { targets: [app] });
    const lease = await failed(inbox, 'a', 0);
    await inbox.release([{ ...(await failed(inbox, 'b', 0)), dead: true }]);
    expect(await inbox.erase({ leadIds: ['a', 'b'], rejected: [] })).toMatchObject({ pending: 2 });
    expect(await dueNow(inbox)).toEqual([]);
    expect(await inbox.lease([lease])).toEqual([{ state: 'not outstanding', tries: 0 }]);
    expect(await inbox.outstanding()).toEqual([]);
  });
});

describe.each(stores)('what was given up in $name', ({ newLocation }) => {
  it('is not tried again, counted apart, and still pending', async () => {
    const inbox = await open(newLocation(), { targets: [app], leaseMs: minute });
    await inbox.release([{ ...(await failed(inbox, 'a', 0)), result, dead: true }]);
    await failed(inbox, 'b', 0);
    expect(await dueNow(inbox)).toEqual(['b']);
    expect(await dead(inbox)).toEqual(['a']);
    const pending = await all(inbox.list({ verdicts: ['pending'] }));
    expect(pending.map(({ leadId, verdict }) => [leadId, verdict])).toEqual([
      ['b', 'pending'],
      ['a', 'pending'],
    ]);
    expect(await inbox.outstanding()).toMatchObject([{ leads: 1, dead: 1 }]);
    expect(await inbox.backlog()).toMatchObject([{ leads: 1, dead: 1, oldestAt: clock.now() }]);
    const label = 'forward http://app.test:3000';
    expect(await inbox.lackingTargets('a')).toEqual([
      { target: label, tries: 2, dueAt: undefined, dead: true },
    ]);
    expect(await inbox.lackingTargets('b')).toMatchObject([{ target: label, tries: 1, dead: false }]);
    expect((await inbox.lookUp(['a', 'b'])).map((lead) => lead?.isPending)).toEqual([true, true]);
    expect((await all(inbox.leads({ states: ['pending'] }))).map(({ leadId }) => leadId)).toEqual(['a', 'b']);
  });

  it('is tried by a push, and stays so until that has success', async () => {
    const inbox = await open(newLocation(), { targets: [app], leaseMs: minute });
    const lease = await failed(inbox, 'a', 0);
    await inbox.release([{ ...lease, dead: true }]);
    const push = { kind: 'pending', targets: [{ name: app, tries: 1 }], busy: false };
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject(push);
    await inbox.release([{ ...lease, retryAt: clock.now() }]);
    expect(await dueNow(inbox)).toEqual([]);
    expect(await dead(inbox)).toEqual(['a']);
    await takeOne(inbox, arrivalOf({ id: 'a' }));
    await inbox.settle([{ ...lease, result: { ...result, ok: true } }]);
    expect(await dead(inbox)).toEqual([]);
    expect(await inbox.outstanding()).toEqual([]);
    expect((await inbox.lookUp(['a']))[0]?.isPending).toBe(false);
  });

  it('is begun anew, which forgets no try', async () => {
    const inbox = await open(newLocation(), { targets: [app, mail], leaseMs: minute });
    const lease = await failed(inbox, 'a', 5);
    await inbox.release([{ ...lease, result, dead: true }]);
    await inbox.settle([{ ...lease, target: mail }]);
    clock.advance(minute);
    expect(await inbox.beginAnew(['a', 'unknown'])).toBe(1);
    expect(await inbox.due(app, clock.now(), 9)).toMatchObject([
      { leadId: 'a', tries: 2, since: clock.now(), dueAt: clock.now() },
    ]);
    expect(await dueNow(inbox, mail)).toEqual([]);
    expect(await dead(inbox)).toEqual([]);
  });

  it('is no lead that was begun anew since it was read', async () => {
    const inbox = await open(newLocation(), { targets: [app], leaseMs: minute });
    const lease = await failed(inbox, 'a', 0);
    const [read] = await inbox.due(app, clock.now(), 1);
    await inbox.lease([lease]);
    clock.advance(1);
    await inbox.beginAnew(['a']);
    await inbox.release([{ ...lease, dead: true, since: read?.since }]);
    expect(await dead(inbox)).toEqual([]);
    await inbox.release([{ ...lease, dead: true, since: clock.now() }]);
    expect(await dead(inbox)).toEqual(['a']);
  });

  it('is pruned, and an audit still finds it', async () => {
    const inbox = await open(newLocation(), { targets: [app, mail], leaseMs: minute });
    const giveUp = async (id: string) => inbox.release([{ ...(await failed(inbox, id, 0)), dead: true }]);
    const drop = async (id: string) =>
      inbox.settle([{ ...(await takeStored(inbox, arrivalOf({ id }))), target: mail }]);
    for (const id of ['a', 'repeated', 'waiting']) await giveUp(id);
    for (const id of ['a', 'repeated']) await drop(id);
    clock.advance(minute);
    await takeOne(
      inbox,
      arrivalOf(
        { id: 'repeated' },
        { delivery: deliveryOf('{"id":"repeated"}', { receivedAt: clock.now() }) },
      ),
    );
    expect(await inbox.prune(clock.now())).toBe(4);
    expect((await all(inbox.list({}))).map(({ leadId }) => leadId)).toEqual(['repeated', 'waiting']);
    expect(Object.fromEntries((await inbox.outstanding()).map((one) => [one.target, one]))).toMatchObject({
      exec: { leads: 1, dead: 0 },
      'forward http://app.test:3000': { leads: 0, dead: 2 },
    });
    expect((await inbox.lookUp(['a', 'repeated'])).map((lead) => lead?.isPending)).toEqual([true, true]);
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({
      kind: 'pending',
      targets: [{ name: app }],
    });
  });
});

describe.each(stores)('the targets of one lead in $name', ({ newLocation }) => {
  const to = (id: string, ...targets: string[]) => arrivalOf({ id }, { targets });

  it('are those that it is for: it is accepted when they have had it', async () => {
    const inbox = await open(newLocation(), { targets: [app, mail] });
    expect(await takeOne(inbox, to('none'))).toMatchObject({ kind: 'accepted' });
    expect(await takeOne(inbox, to('none'))).toMatchObject({ kind: 'duplicate' });
    const mailed = { ...(await takeStored(inbox, to('mailed', mail))), target: mail };
    expect(await inbox.lease([{ ...mailed, target: app }])).toMatchObject([{ state: 'not outstanding' }]);
    expect(await inbox.settle([mailed])).toEqual(['accepted']);
    expect(await inbox.outstanding()).toEqual([]);
    expect((await inbox.lookUp(['none', 'mailed'])).map((lead) => lead?.isPending)).toEqual([false, false]);
    expect((await all(inbox.leads({}))).map(({ leadId }) => leadId)).toEqual(['none', 'mailed']);
  });
});

describe.each(sharedStores)('what is to be tried again in $name, between runs', ({ newLocation }) => {
  it('is known to the next one, with the number of tries', async () => {
    const location = newLocation();
    const before = await open(location, { targets: [app], leaseMs: minute });
    const lease = await failed(before, 'a', 3);
    await before.release([{ ...(await failed(before, 'b', 0)), dead: true }]);
    await before.close();
    const after = await open(location, { targets: [app], leaseMs: minute });
    expect(await after.nextDueAt(app)).toSatisfy(
      (at: number) => Math.abs(at - clock.now() - 3 * minute) < skew,
    );
    expect(await dead(after)).toEqual(['b']);
    expect(await after.lease([lease])).toEqual([{ state: 'leased', tries: 1 }]);
  });

  it('is not what another one tries now', async () => {
    const location = newLocation();
    const here = await open(location, { targets: [app], leaseMs: minute });
    const there = await open(location, { targets: [app], leaseMs: minute });
    const lease = await failed(here, 'a', 0);
    expect(await there.lease([lease])).toMatchObject([{ state: 'leased' }]);
    expect(await dueNow(here)).toEqual([]);
    expect(await here.lease([lease])).toEqual([{ state: 'busy', tries: 1 }]);
    await there.release([{ ...lease, result, retryAt: clock.now() }]);
    expect(await here.due(app, clock.now() + skew, 9)).toMatchObject([{ leadId: 'a', tries: 2 }]);
  });
});
