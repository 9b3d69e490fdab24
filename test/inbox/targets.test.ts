import { describe, expect, it } from 'vitest';
import { clock, open, sharedStores, stores, takeOne, takeStored } from './stores.ts';
import { all, arrivalOf } from './support.ts';

const arrival = arrivalOf({ id: 'a' });
const forward = 'forward https://app.test/';
const output = 'output /tmp/x';

const named = (...names: string[]) => names.map((name) => ({ name, tries: 0 }));

describe.each(stores)('the targets of leads in $name', ({ newLocation }) => {
  it('keep a lead pending until every one of them has had it', async () => {
    const inbox = await open(newLocation(), { targets: [forward, output], leaseMs: 1000 });
    expect(await takeOne(inbox, arrival)).toMatchObject({ kind: 'pending', targets: named(forward, output) });
    const [first] = await all(inbox.list({}));
    const stored = { leadId: 'a', seq: first?.seq ?? 0 };
    expect(await all(inbox.unsettled())).toEqual([stored, stored]);
    expect(first).toMatchObject({ verdict: 'pending', status: 502 });
    expect(await inbox.settle([{ ...stored, target: forward }])).toEqual(['pending']);
    const repeat = await takeOne(inbox, arrival);
    expect(repeat).toMatchObject({ kind: 'pending', targets: named(output), attempt: 2, busy: false });
    expect(await all(inbox.leads({}))).toEqual([]);
    expect(await all(inbox.unsettled(output))).toEqual([stored]);
    expect(await all(inbox.unsettled())).toEqual([stored]);
    expect(await inbox.settle([{ ...stored, target: output }])).toEqual(['accepted']);
    expect(await all(inbox.unsettled(output))).toEqual([]);
    expect(await takeOne(inbox, arrival)).toMatchObject({ kind: 'duplicate', attempt: 3 });
    expect(await all(inbox.leads({}))).toHaveLength(1);
    expect((await all(inbox.list({}))).map(({ verdict, status }) => [verdict, status])).toEqual([
      ['duplicate', 200],
      ['pending', 502],
      ['accepted', 200],
    ]);
  });

  it('are none for a copy in the same batch, which is accepted, and no other one', async () => {
    const inbox = await open(newLocation(), { targets: [output], leaseMs: 1000 });
    const copy = arrivalOf({ id: 'a' }, { targets: [] });
    expect((await inbox.take([arrival, copy])).map(({ kind }) => kind)).toEqual(['pending', 'accepted']);
    expect(await takeOne(inbox, copy)).toMatchObject({ kind: 'duplicate', attempt: 3 });
    expect(await inbox.states(['a'])).toEqual(new Map([['a', 'accepted']]));
  });

  it('are read in parts while they are settled, each once', async () => {
    const inbox = await open(newLocation(), { targets: [output], leaseMs: 1000 });
    const ids = Array.from({ length: 2100 }, (_, i) => `lead_${i}`);
    await inbox.take(ids.map((id) => arrivalOf({ id })));
    const read: string[] = [];
    for await (const stored of inbox.unsettled(output)) {
      read.push(stored.leadId);
      if (read.length % 500 === 0) await inbox.settle([{ ...stored, target: output }]);
    }
    expect(read.sort()).toEqual(ids.sort());
    expect(await all(inbox.unsettled(output))).toHaveLength(2096);
    expect(await all(inbox.unsettled())).toHaveLength(2096);
  });

  it('are settled in batches, a result for each', async () => {
    const inbox = await open(newLocation(), { targets: [forward, output], leaseMs: 1000 });
    const a = await takeStored(inbox, arrival);
    const repeat = await takeStored(inbox, arrival);
    const b = await takeStored(inbox, arrivalOf({ id: 'b' }));
    const results = await inbox.settle([
      { ...a, target: forward },
      { ...a, target: output },
      { ...repeat, target: output },
      { ...b, target: output },
    ]);
    expect(results).toEqual(['pending', 'accepted', 'duplicate', 'pending']);
    expect((await all(inbox.list({ leadId: 'a' }))).map(({ verdict }) => verdict)).toEqual([
      'duplicate',
      'accepted',
    ]);
  });

  it('may try again after they were released', async () => {
    const inbox = await open(newLocation(), { targets: [forward, output], leaseMs: 1000 });
    const stored = await takeStored(inbox, arrival);
    await inbox.release([forward, output].map((target) => ({ ...stored, target })));
    expect(await takeOne(inbox, arrival)).toMatchObject({ targets: named(forward, output), busy: false });
  });
});

describe.each(sharedStores)('the targets of leads in $name, between receivers', ({ newLocation }) => {
  it('are leased to one receiver at a time, until it releases them or the lease expires', async () => {
    const location = newLocation();
    const here = await open(location, { targets: ['t'], leaseMs: 60_000 });
    const there = await open(location, { targets: ['t'], leaseMs: 60_000 });
    const stored = await takeStored(here, arrival);
    expect(await takeOne(there, arrival)).toMatchObject({ kind: 'pending', targets: [], busy: true });
    await here.release([{ ...stored, target: 't' }]);
    expect(await takeOne(there, arrival)).toMatchObject({ targets: named('t'), busy: false });
    expect(await takeOne(here, arrival)).toMatchObject({ busy: true });
    clock.advance(120_000);
    expect(await takeOne(here, arrival)).toMatchObject({ targets: [{ name: 't', tries: 1 }], busy: false });
  });

  it('may have had a lead whose lease was not ended: that is a try', async () => {
    const location = newLocation();
    const options = { targets: ['t'], leaseMs: 60_000 };
    const gone = await open(location, options);
    const lease = { ...(await takeStored(gone, arrival)), target: 't' };
    // Its own, which is renewed, and one that it ended.
    expect(await gone.lease([lease])).toEqual([{ state: 'leased', tries: 0 }]);
    await gone.release([lease]);
    expect(await gone.lease([lease])).toEqual([{ state: 'leased', tries: 0 }]);
    clock.advance(120_000);
    const [outbox, sender] = [await open(location, options), await open(location, options)];
    expect(await outbox.due('t', clock.now(), 9)).toMatchObject([{ leadId: 'a', tries: 1 }]);
    expect(await outbox.lease([lease])).toEqual([{ state: 'leased', tries: 1 }]);
    expect(await outbox.lease([lease])).toEqual([{ state: 'leased', tries: 1 }]);
    clock.advance(120_000);
    expect(await takeOne(sender, arrival)).toMatchObject({ targets: [{ name: 't', tries: 2 }] });
    const result = { ok: false, answer: '500', durationMs: 1, at: clock.now(), kind: 'retry' } as const;
    await sender.release([{ ...lease, result, retryAt: clock.now() }]);
    expect(await outbox.due('t', clock.now(), 9)).toMatchObject([{ leadId: 'a', tries: 3 }]);
  });

  it('cannot be released by a receiver that does not hold the lease', async () => {
    const location = newLocation();
    const here = await open(location, { targets: ['t'], leaseMs: 60_000 });
    const there = await open(location, { targets: ['t'], leaseMs: 60_000 });
    const stored = await takeStored(here, arrival);
    await there.release([{ ...stored, target: 't' }]);
    expect(await takeOne(there, arrival)).toMatchObject({ busy: true });
  });

  it('of an earlier run leave the lead pending: a run without targets accepts it', async () => {
    const location = newLocation();
    const before = await open(location, { targets: ['t'], leaseMs: 0 });
    await takeOne(before, arrival);
    const after = await open(location);
    expect(await takeOne(after, arrival)).toMatchObject({ kind: 'accepted', attempt: 2 });
    expect(await takeOne(after, arrival)).toMatchObject({ kind: 'duplicate' });
    expect((await all(after.leads({}))).map(({ leadId }) => leadId)).toEqual(['a']);
  });
});
