import { describe, expect, it } from 'vitest';
import type { AttemptRecord, ClaimedLead, Inbox } from '../../src/inbox/inbox.ts';
import { claimFirst, clock, open, sharedStores, stores, takeOne, takeStored } from './stores.ts';
import { all, arrivalOf, arrivalsTogether } from './support.ts';

const app = 'forward http://user:password@app.test:3000/hook?key=k';
const mail = 'exec mail';
const label = 'forward http://app.test:3000';
const refused = { ok: false, answer: '502', durationMs: 12, at: 5, kind: 'forward' } as const;
const took = { ok: true, answer: '200', durationMs: 7, at: 6, kind: 'retry' } as const;
const minute = 60_000;
const options = { targets: [app, mail], claimMs: minute };

const idsOf = (claims: readonly ClaimedLead[]): readonly string[] => claims.map(({ leadId }) => leadId);

const claimed = async (inbox: Inbox, most = 100, target = app): Promise<readonly string[]> =>
  idsOf(await inbox.claim(target, most));

const recordOf = (
  { leadId, seq, claim }: Pick<ClaimedLead, 'leadId' | 'seq' | 'claim'>,
  outcome: AttemptRecord['outcome'],
  target = app,
): AttemptRecord => ({ leadId, seq, claim, target, outcome });

const statesOf = async (inbox: Inbox, leadId: string) =>
  (await inbox.forwards([leadId])).get(leadId)?.map(({ target, state, tries }) => [target, state, tries]);

const listed = async (inbox: Inbox, state: 'waiting' | 'dead') =>
  (await all(inbox.list({ verdicts: [state] }))).map(({ leadId }) => leadId);

describe.each(stores)('new leads in $name', ({ newLocation }) => {
  it('wait for every target, and repeats for none', async () => {
    const inbox = await open(newLocation(), options);
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted', attempt: 1 });
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate', attempt: 2 });
    expect(await statesOf(inbox, 'a')).toEqual([
      ['exec', 'waiting', 0],
      [label, 'waiting', 0],
    ]);
    expect(await inbox.targetCounts()).toEqual([
      { target: 'exec', waiting: 1, dead: 0, oldestAt: 1000, isOwn: true },
      { target: label, waiting: 1, dead: 0, oldestAt: 1000, isOwn: true },
    ]);
    expect(await claimed(inbox)).toEqual(['a']);
    expect(await claimed(inbox)).toEqual([]);
    expect(await listed(inbox, 'waiting')).toEqual(['a']);
    expect((await all(inbox.leads({ state: 'waiting' }))).map(({ leadId }) => leadId)).toEqual(['a']);
  });

  it('wait for the targets that their delivery names alone', async () => {
    const inbox = await open(newLocation(), options);
    await takeOne(inbox, arrivalOf({ id: 'a' }, { targets: [mail] }));
    await takeOne(inbox, arrivalOf({ id: 'b' }, { targets: [] }));
    expect(await statesOf(inbox, 'a')).toEqual([['exec', 'waiting', 0]]);
    expect(await statesOf(inbox, 'b')).toBeUndefined();
    expect(await all(inbox.leads({}))).toHaveLength(2);
  });

  it('may be claimed as they are stored, which is their first attempt', async () => {
    const inbox = await open(newLocation(), options);
    const a = await takeStored(inbox, arrivalOf({ id: 'a' }, { claimed: [app] }));
    expect(await claimed(inbox)).toEqual([]);
    expect(await claimed(inbox, 100, mail)).toEqual(['a']);
    clock.advance(minute);
    expect(await inbox.claim(app, 9)).toMatchObject([{ ...a, request: a.seq, tries: 2 }]);
  });

  it('are in no target that was added later, which is said', async () => {
    const location = newLocation();
    const first = await open(location, { targets: [app] });
    expect(first.newTargets).toEqual([]);
    await takeOne(first, arrivalOf({ id: 'a' }));
    if (location === ':memory:') return;
    const second = await open(location, options);
    expect(second.newTargets).toEqual(['exec']);
    expect(await takeOne(second, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
    expect(await claimed(second, 9, mail)).toEqual([]);
  });

  it('are those that an audit stored for no target, at their first push', async () => {
    const inbox = await open(newLocation(), options);
    for (const id of ['a', 'b']) {
      await takeOne(inbox, arrivalOf({ id }, { source: 'backfill', targets: [] }));
    }
    await takeOne(inbox, arrivalOf({ id: 'c' }, { targets: [] }));
    await takeOne(inbox, arrivalOf({ id: 'a' }, { source: 'backfill' }));
    expect(await inbox.claim(app, 9)).toEqual([]);
    const { seq } = await takeStored(inbox, arrivalOf({ id: 'a' }));
    await takeOne(inbox, arrivalOf({ id: 'a' }));
    await takeOne(inbox, arrivalOf({ id: 'c' }));
    expect(await inbox.claim(app, 9)).toMatchObject([{ leadId: 'a', seq, request: seq, tries: 1 }]);
    expect(await claimed(inbox)).toEqual([]);
  });
});

describe.each(stores)('a claim in $name', ({ newLocation }) => {
  it('takes leads that were never tried before those that failed, and the earliest of each first', async () => {
    const inbox = await open(newLocation(), options);
    for (const id of ['a', 'b']) await takeOne(inbox, arrivalOf({ id }));
    for (const claim of await inbox.claim(app, 9)) await inbox.record([recordOf(claim, { retryInMs: 0 })]);
    for (const id of ['c', 'd']) await takeOne(inbox, arrivalOf({ id }));
    const claims: string[] = [];
    for (let i = 0; i < 4; i += 1) claims.push(...(await claimed(inbox, 1)));
    expect(claims).toEqual(['c', 'd', 'a', 'b']);
  });

  it('takes what is due, earliest first, and so many', async () => {
    const inbox = await open(newLocation(), options);
    for (const id of ['late', 'early', 'never']) await takeOne(inbox, arrivalOf({ id }));
    const [late, early, never] = await inbox.claim(app, 9);
    if (late === undefined || early === undefined || never === undefined) throw new Error('not claimed');
    await inbox.record([
      recordOf(late, { retryInMs: 20 * minute }),
      recordOf(early, { retryInMs: 10 * minute }),
      recordOf(never, 'dead'),
    ]);
    expect(await claimed(inbox)).toEqual([]);
    expect(Math.abs(((await inbox.nextDueIn(app)) ?? 0) - 10 * minute)).toBeLessThan(minute / 2);
    clock.advance(10 * minute);
    expect(await claimed(inbox, 1)).toEqual(['early']);
    clock.advance(10 * minute);
    expect(await inbox.claim(app, 1)).toMatchObject([{ leadId: 'early', tries: 3 }]);
    expect(await claimed(inbox, 1)).toEqual(['late']);
    expect(await claimed(inbox)).toEqual([]);
    expect(await listed(inbox, 'dead')).toEqual(['never']);
  });

  it('keeps to its times when somebody sets the clock back, however little', async () => {
    const inbox = await open(newLocation(), options);
    for (const id of ['a', 'b']) await takeOne(inbox, arrivalOf({ id }));
    const a = await claimFirst(inbox, app);
    await inbox.record([recordOf(a, { retryInMs: 10 * minute })]);
    const [b] = await inbox.claim(app, 1);
    clock.set(-30 * minute);
    try {
      // Nobody has written since: the next claim finds out.
      expect(await inbox.nextDueIn(app)).toBe(0);
      expect(await claimed(inbox)).toEqual([]);
      expect(await inbox.nextDueIn(app)).toBe(minute);
      clock.advance(minute);
      expect(await inbox.claim(app, 9)).toMatchObject([{ leadId: 'b', tries: 2 }]);
      expect((await inbox.forwards(['b'])).get('b')?.at(-1)).toMatchObject({ isClaimed: true });
      clock.advance(9 * minute);
      const later = await inbox.claim(app, 9);
      expect([...idsOf(later)].sort()).toEqual(['a', 'b']);
      expect(later.every(({ since }) => since < clock.now())).toBe(true);
      expect(b?.claim).toBe(1);
    } finally {
      clock.set(30 * minute);
    }
  });

  it('that probes a target takes the latest that was never tried, and then what failed, earliest first', async () => {
    const inbox = await open(newLocation(), options);
    for (const id of ['a', 'b']) await takeOne(inbox, arrivalOf({ id }));
    for (const claim of await inbox.claim(app, 9)) {
      clock.advance(1);
      await inbox.record([recordOf(claim, { retryInMs: 0 })]);
    }
    for (const id of ['c', 'd']) await takeOne(inbox, arrivalOf({ id }));
    const claims: string[] = [];
    for (let i = 0; i < 4; i += 1) claims.push(...idsOf(await inbox.claim(app, 1, { isProbe: true })));
    expect(claims).toEqual(['d', 'c', 'a', 'b']);
  });

  it('takes the leads of one request together, whatever the limit is, or no more than the limit', async () => {
    const inbox = await open(newLocation(), options);
    const leads = arrivalsTogether(['{"id":"a"}', '{"id":"b"}', '{"id":"c"}']);
    await inbox.take([arrivalOf({ id: 'x' }), ...leads, arrivalOf({ id: 'y' })]);
    expect(await claimed(inbox, 2, mail)).toEqual(['x', 'a']);
    const first = await inbox.claim(app, 2, { isWhole: true });
    expect(idsOf(first)).toEqual(['x', 'a', 'b', 'c']);
    expect(new Set(first.slice(1).map(({ request }) => request)).size).toBe(1);
    expect(await claimed(inbox)).toEqual(['y']);
  });

  it('takes a request as one where its leads were made due one after another', async () => {
    const inbox = await open(newLocation(), options);
    await inbox.take(arrivalsTogether(['{"id":"b"}', '{"id":"a"}']));
    const dueAt = clock.now() - 1;
    for (const id of ['a', 'b']) {
      await inbox.makeDue([id], dueAt);
      clock.advance(1);
    }
    expect(idsOf(await inbox.claim(app, 1, { isWhole: true }))).toEqual(['b', 'a']);
  });

  it('has a number that never comes again, whatever ended the ones before', async () => {
    const inbox = await open(newLocation(), options);
    await takeOne(inbox, arrivalOf({ id: 'a' }));
    const untried = await claimFirst(inbox, app);
    await inbox.record([recordOf(untried, 'untried')]);
    const abandoned = await claimFirst(inbox, app);
    // Whoever did not hear that its record was stored repeats it.
    await inbox.record([recordOf(untried, 'untried')]);
    expect(await claimed(inbox)).toEqual([]);
    await inbox.makeDue(['a']);
    clock.advance(2 * minute);
    expect(await inbox.claim(app, 9)).toMatchObject([{ leadId: 'a', tries: 1 }]);
    await inbox.record([recordOf(abandoned, 'dead')]);
    expect(await statesOf(inbox, 'a')).toContainEqual([label, 'waiting', 1]);
  });

  it('that was replaced by another one ends nothing, but what was delivered is done', async () => {
    const inbox = await open(newLocation(), options);
    await takeOne(inbox, arrivalOf({ id: 'a' }));
    const stale = await claimFirst(inbox, app);
    clock.advance(2 * minute);
    await inbox.claim(app, 9);
    await inbox.record([recordOf(stale, { retryInMs: 0 })]);
    await inbox.record([recordOf(stale, 'dead')]);
    expect(await claimed(inbox)).toEqual([]);
    expect(await statesOf(inbox, 'a')).toContainEqual([label, 'waiting', 2]);
    await inbox.record([recordOf(stale, 'done')]);
    clock.advance(2 * minute);
    expect(await claimed(inbox)).toEqual([]);
    expect(await statesOf(inbox, 'a')).toContainEqual([label, 'done', 2]);
  });

  it('is of one target, and leaves the others', async () => {
    const inbox = await open(newLocation(), options);
    const a = await takeStored(inbox, arrivalOf({ id: 'a' }));
    await inbox.record([{ ...a, claim: 1, target: app, outcome: 'done' }]);
    expect(await all(inbox.waiting(app))).toEqual([]);
    expect(await all(inbox.waiting(mail))).toEqual([a]);
    expect(await all(inbox.waiting())).toEqual([a]);
    expect(await inbox.targetCounts()).toMatchObject([{ target: 'exec', waiting: 1 }]);
  });
});

describe.each(stores)('what waits in $name', ({ newLocation }) => {
  it('is read in parts while some of it is done, each once', async () => {
    const inbox = await open(newLocation(), options);
    const ids = Array.from({ length: 2100 }, (_, i) => `lead_${i}`);
    await inbox.take(ids.map((id) => arrivalOf({ id })));
    const read: string[] = [];
    for await (const stored of inbox.waiting(app)) {
      read.push(stored.leadId);
      if (read.length % 500 === 0)
        await inbox.record([{ ...stored, claim: 1, target: app, outcome: 'done' }]);
    }
    expect(read.sort()).toEqual(ids.sort());
    expect(await all(inbox.waiting(app))).toHaveLength(2096);
  });

  it('is due now, from the first attempt on, when a person says so, dead or not', async () => {
    const inbox = await open(newLocation(), options);
    for (const id of ['a', 'b', 'done']) await takeOne(inbox, arrivalOf({ id }));
    const [a, b, done] = await inbox.claim(app, 9);
    if (a === undefined || b === undefined || done === undefined) throw new Error('not claimed');
    const had = [recordOf(done, 'done'), recordOf({ ...done, claim: 0 }, 'done', mail)];
    await inbox.record([recordOf(a, 'dead'), recordOf(b, { retryInMs: 9 * minute }), ...had]);
    clock.advance(minute);
    expect(await inbox.makeDue(['a', 'b', 'done', 'unknown'])).toBe(2);
    expect(await listed(inbox, 'dead')).toEqual([]);
    const again = await inbox.claim(app, 9);
    expect([...idsOf(again)].sort()).toEqual(['a', 'b']);
    expect(again).toMatchObject([
      { tries: 1, since: clock.now() },
      { tries: 1, since: clock.now() },
    ]);
  });

  it('is given up together once it has waited so long, but for what is being sent', async () => {
    const inbox = await open(newLocation(), options);
    for (const id of ['a', 'b']) await takeOne(inbox, arrivalOf({ id }));
    clock.advance(10 * minute);
    await takeOne(inbox, arrivalOf({ id: 'new' }));
    await inbox.claim(app, 1);
    expect(await inbox.giveUp(app, 5 * minute)).toBe(1);
    expect(await listed(inbox, 'dead')).toEqual(['b']);
    expect(await inbox.targetCounts()).toContainEqual({
      ...{ target: label, waiting: 2, dead: 1, oldestAt: 1000, isOwn: true },
    });
    expect(await inbox.giveUp(app, 5 * minute)).toBe(0);
  });
});

describe.each(stores)('the attempts in $name', ({ newLocation }) => {
  it('are kept, the last 100, under a label and an address without credentials', async () => {
    const inbox = await open(newLocation(), options);
    const a = { ...(await takeStored(inbox, arrivalOf({ id: 'a' }))), claim: 0, target: app };
    const b = await takeStored(inbox, { ...arrivalOf({ id: 'b' }), source: 'backfill' });
    await inbox.record([{ ...a, outcome: { retryInMs: 0 }, result: { ...refused, answer: 'a\tb' } }]);
    await inbox.record([{ ...a, outcome: 'done', result: took }]);
    await inbox.record([
      { ...b, claim: 0, target: mail, outcome: 'done', result: { ...took, kind: 'forward' } },
    ]);
    const results = async (leadId: string) => (await all(inbox.list({ leadId })))[0]?.results ?? [];
    const address = 'http://app.test:3000/hook';
    expect(await results('a')).toEqual([
      { target: label, address, ...refused, answer: 'a\tb' },
      { target: label, address, ...took },
    ]);
    // A forward of what was read back is a repair.
    expect(await results('b')).toMatchObject([{ target: 'exec', kind: 'repair' }]);
    for (let at = 0; at < 120; at += 1)
      await inbox.record([{ ...a, outcome: 'done', result: { ...took, at } }]);
    expect((await results('a')).map(({ at }) => at)).toEqual(Array.from({ length: 100 }, (_, i) => i + 20));
  });
});

describe.each(stores)('a lead that a person has sent from $name', ({ newLocation }) => {
  it('is claimed although it is not due, or dead, and only once at a time', async () => {
    const inbox = await open(newLocation(), options);
    const a = await takeStored(inbox, arrivalOf({ id: 'a' }));
    await inbox.record([{ ...a, claim: 0, target: app, outcome: 'dead' }]);
    expect(await inbox.claimLeads(['a', 'unknown'], app)).toMatchObject([
      { state: 'claimed', tries: 1, label },
      { state: 'none' },
    ]);
    expect(await inbox.claimLeads(['a'], app)).toMatchObject([{ state: 'busy' }]);
    await inbox.record([{ ...a, claim: 1, target: app, outcome: 'untried' }]);
    expect(await statesOf(inbox, 'a')).toContainEqual([label, 'dead', 0]);
    await inbox.record([{ ...a, claim: 0, target: app, outcome: 'done' }]);
    expect(await inbox.claimLeads(['a'], app)).toMatchObject([{ state: 'done' }]);
  });

  it('is done for the forward that it waited for when its new address has it', async () => {
    const inbox = await open(newLocation(), options);
    const a = await takeStored(inbox, arrivalOf({ id: 'a' }));
    const [claim] = await inbox.claimLeads(['a']);
    expect(claim).toMatchObject({ state: 'claimed', label });
    expect(await claimed(inbox)).toEqual([]);
    const moved = { target: 'forward http://app.test:4000/', insteadOf: claim?.stored, result: took };
    await inbox.record([{ ...a, claim: 1, outcome: 'done', ...moved }]);
    expect(await statesOf(inbox, 'a')).toEqual([
      ['exec', 'waiting', 0],
      [label, 'done', 1],
    ]);
    expect(await inbox.claimLeads(['a'])).toMatchObject([{ state: 'none' }]);
  });

  it('stays where it waits for several forwards: which of them has moved is not known', async () => {
    const inbox = await open(newLocation(), { ...options, targets: [app, 'forward http://other.test/'] });
    await takeOne(inbox, arrivalOf({ id: 'a' }));
    expect(await inbox.claimLeads(['a'])).toMatchObject([{ state: 'several' }]);
    expect(await claimed(inbox)).toEqual(['a']);
  });
});

describe.each(sharedStores)('two receivers on $name', ({ newLocation }) => {
  it('claim each lead once', async () => {
    const location = newLocation();
    const [here, there] = [await open(location, options), await open(location, options)];
    await here.take(Array.from({ length: 60 }, (_, i) => arrivalOf({ id: `l${i}` })));
    const parts = await Promise.all(
      Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? here : there).claim(app, 20)),
    );
    const ids = parts.flatMap(idsOf);
    for (const inbox of [here, there]) ids.push(...(await claimed(inbox)));
    expect(ids).toHaveLength(60);
    expect(new Set(ids).size).toBe(60);
  });

  it('know a target by its address, whatever its credentials are, and another port as another one', async () => {
    const location = newLocation();
    await takeOne(await open(location, { targets: [app] }), arrivalOf({ id: 'a' }));
    const rotated = await open(location, { targets: ['forward http://app.test:3000/hook?key=k'] });
    expect(await rotated.targetCounts()).toMatchObject([{ waiting: 1, isOwn: true }]);
    const moved = await open(location, { targets: ['forward http://app.test:3001/hook?key=k'] });
    expect(await moved.targetCounts()).toEqual([
      { target: label, waiting: 1, dead: 0, oldestAt: 1000, isOwn: false },
    ]);
  });
});
