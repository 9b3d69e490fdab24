import { describe, expect, it } from 'vitest';
import { clock, open, sharedStores, stores, takeOne, takeStored } from './stores.ts';
import { all, arrivalOf } from './support.ts';

const forward = 'forward http://user:password@app.test:3000/hook?key=k';
const mine = { dead: 0, wanted: true, wantedElsewhere: false };
const refused = { ok: false, answer: '502', durationMs: 12, at: 5, kind: 'forward' } as const;
const took = { ok: true, answer: '200', durationMs: 7, at: 6, kind: 'forward' } as const;

describe.each(stores)('what is outstanding in $name', ({ newLocation }) => {
  it('is one delivery for each lead, the newest, and only until the targets have had it', async () => {
    const inbox = await open(newLocation(), { targets: [forward] });
    const a = await takeStored(inbox, arrivalOf({ id: 'a' }));
    await takeStored(inbox, arrivalOf({ id: 'a' }));
    const b = await takeStored(inbox, arrivalOf({ id: 'b' }));
    const pending = async () =>
      (await all(inbox.list({ verdicts: ['pending'] }))).map(({ leadId, attempt }) => [leadId, attempt]);
    expect(await pending()).toEqual([
      ['b', 1],
      ['a', 2],
    ]);
    expect((await all(inbox.leads({ states: ['pending'] }))).map(({ leadId }) => leadId)).toEqual(['a', 'b']);
    expect(await inbox.outstanding()).toEqual([
      { target: 'forward http://app.test:3000', leads: 2, ...mine },
    ]);
    await inbox.settle([{ ...a, target: forward }]);
    expect(await pending()).toEqual([['b', 1]]);
    await inbox.settle([{ ...b, target: forward }]);
    expect(await pending()).toEqual([]);
    expect(await inbox.outstanding()).toEqual([]);
    expect(await all(inbox.list({}))).toHaveLength(3);
  });

  it('keeps what came of each hand-over, the last 100, under a label without credentials', async () => {
    const inbox = await open(newLocation(), { targets: [forward] });
    const a = await takeStored(inbox, arrivalOf({ id: 'a' }));
    const lease = { ...a, target: forward };
    await inbox.release([{ ...lease, result: refused }]);
    await inbox.settle([{ ...lease, result: took }]);
    const results = async () => (await all(inbox.list({ leadId: 'a' })))[0]?.results ?? [];
    expect(await results()).toEqual([
      { target: 'forward http://app.test:3000', address: 'http://app.test:3000/hook', ...refused },
      { target: 'forward http://app.test:3000', address: 'http://app.test:3000/hook', ...took },
    ]);
    for (let at = 0; at < 120; at += 1) await inbox.release([{ ...lease, result: { ...refused, at } }]);
    expect((await results()).map(({ at }) => at)).toEqual(Array.from({ length: 100 }, (_, i) => i + 20));
  });

  it('keeps of each hand-over why it was, and its address without what may be a credential', async () => {
    const secret = 'forward https://user:password@app.test/hook/crm?key=1';
    const inbox = await open(newLocation(), { targets: [secret] });
    const [a, fetched] = [
      await takeStored(inbox, arrivalOf({ id: 'a' })),
      await takeStored(inbox, { ...arrivalOf({ id: 'b' }), source: 'backfill' }),
    ];
    await inbox.release([{ ...a, target: secret, result: { ...refused, answer: 'a\tb', kind: 'forward' } }]);
    await inbox.settle([{ ...a, target: secret, result: { ...took, kind: 'retry' } }]);
    await inbox.release([{ ...a, target: 'exec CMD', result: { ...refused, kind: 'replay' } }]);
    await inbox.settle([{ ...fetched, target: secret, result: { ...took, kind: 'forward' } }]);
    const [second, first] = await all(inbox.list({}));
    const address = 'https://app.test/hook/crm';
    expect(first?.results).toMatchObject([
      { kind: 'forward', address, answer: 'a\tb', target: 'forward https://app.test' },
      { kind: 'retry', address, answer: took.answer },
      { kind: 'replay', answer: refused.answer },
    ]);
    expect(first?.results[2]?.address).toBeUndefined();
    expect(second?.results).toMatchObject([{ kind: 'repair', address }]);
  });

  it('is not leased to who only asks, and no lease of the same receiver ends by that', async () => {
    const location = newLocation();
    const inbox = await open(location, { targets: [forward], leaseMs: 1000 });
    const lease = { ...(await takeStored(inbox, arrivalOf({ id: 'a' }))), target: forward };
    const leasedUntil = await inbox.nextDueAt(forward);
    clock.advance(500);
    const asked = { ...lease, seq: 0, isQuestion: true } as const;
    expect(await inbox.lease([asked])).toEqual([{ state: 'leased', tries: 0 }]);
    expect(await inbox.nextDueAt(forward)).toBe(leasedUntil);
    await inbox.settle([lease]);
    expect(await inbox.lease([asked])).toEqual([{ state: 'settled', tries: 0 }]);
  });

  it('can be leased without a delivery', async () => {
    const inbox = await open(newLocation(), { targets: [forward], leaseMs: 1000 });
    const a = await takeStored(inbox, arrivalOf({ id: 'a' }));
    expect(await inbox.lease([{ ...a, target: forward }])).toMatchObject([{ state: 'leased' }]);
    await inbox.settle([{ ...a, target: forward }]);
    expect(await inbox.lease([{ ...a, target: forward }])).toMatchObject([{ state: 'settled' }]);
  });
});

describe.each(stores)('what is outstanding in $name for the receiver itself', ({ newLocation }) => {
  it('is not settled by a delivery to another address, which is known to have had it', async () => {
    const moved = 'forward http://app.test:4000/';
    const inbox = await open(newLocation(), { targets: [forward] });
    const a = { ...(await takeStored(inbox, arrivalOf({ id: 'a' }))), target: moved };
    expect(await inbox.lease([a])).toMatchObject([{ state: 'not outstanding' }]);
    const other = await open(newLocation(), { targets: [moved] });
    expect(await other.outstanding()).toEqual([]);
    expect(await inbox.markDoneAtNewAddress([{ ...a, result: took }])).toEqual([undefined]);
    expect(await inbox.lease([a])).toMatchObject([{ state: 'settled' }]);
    expect(await inbox.outstanding()).toMatchObject([{ leads: 1 }]);
    expect((await all(inbox.list({})))[0]).toMatchObject({ verdict: 'pending', results: [took] });
  });
});

describe.each(sharedStores)('what is outstanding in $name for an app that has moved', ({ newLocation }) => {
  const moved = 'forward http://app.test:4000/';

  /** A lead that a receiver, which has ended since, delivered to none of its targets. */
  async function leftBehind(targets: readonly string[]) {
    const location = newLocation();
    const before = await open(location, { targets });
    const a = { ...(await takeStored(before, arrivalOf({ id: 'a' }))), target: moved, result: took };
    await before.close();
    return { a, inbox: await open(location, { targets: [moved] }) };
  }

  it('is settled by a delivery to its new address, when it is the only forward', async () => {
    const { a, inbox } = await leftBehind([forward, 'exec true']);
    expect(await inbox.markDoneAtNewAddress([a])).toEqual(['forward http://app.test:3000']);
    expect(await inbox.outstanding()).toMatchObject([{ target: 'exec', leads: 1 }]);
    expect((await all(inbox.list({})))[0]?.results).toMatchObject([{ ...took }]);
    expect(await inbox.markDoneAtNewAddress([a])).toEqual([undefined]);
  });

  it('stays where it is outstanding for several addresses: which one moved is not known', async () => {
    const { a, inbox } = await leftBehind([forward, 'forward http://other.test/']);
    expect(await inbox.markDoneAtNewAddress([a])).toEqual([undefined]);
    expect(await inbox.outstanding()).toHaveLength(2);
  });
});

describe.each(sharedStores)('what is outstanding in $name, between receivers', ({ newLocation }) => {
  it('belongs to one at a time', async () => {
    const location = newLocation();
    const here = await open(location, { targets: [forward], leaseMs: 60_000 });
    const there = await open(location, { targets: [forward], leaseMs: 60_000 });
    const lease = { ...(await takeStored(here, arrivalOf({ id: 'a' }))), target: forward };
    expect(await there.lease([lease])).toMatchObject([{ state: 'busy' }]);
    clock.advance(120_000);
    expect(await there.lease([lease])).toMatchObject([{ state: 'leased' }]);
    expect(await here.lease([lease])).toMatchObject([{ state: 'busy' }]);
  });

  it('is not settled for another address while a receiver runs that wants it', async () => {
    const location = newLocation();
    // The first one was started again, and the lead did not come since.
    const first = await open(location, { targets: [forward], leaseMs: 60_000 });
    const stored = await takeStored(first, arrivalOf({ id: 'a' }));
    await first.close();
    const here = await open(location, { targets: [forward], leaseMs: 60_000 });
    const moved = 'forward http://app.test:4000/';
    const retrying = await open(location, { targets: [moved], leaseMs: 60_000 });
    const a = { ...stored, target: moved, result: took };
    clock.advance(120_000);
    expect(await retrying.markDoneAtNewAddress([a])).toEqual([undefined]);
    expect(await retrying.outstanding()).toMatchObject([{ wanted: false, wantedElsewhere: true }]);
    expect(await here.outstanding()).toMatchObject([{ wanted: true, wantedElsewhere: false }]);
    await here.close();
    expect(await retrying.markDoneAtNewAddress([a])).toEqual(['forward http://app.test:3000']);
    expect(await retrying.outstanding()).toEqual([]);
    expect((await all(retrying.list({})))[0]).toMatchObject({ verdict: 'accepted' });
    expect(await takeOne(retrying, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it('is the same target with other credentials, and another one at another port', async () => {
    const location = newLocation();
    const before = await open(location, { targets: [forward] });
    await takeOne(before, arrivalOf({ id: 'a' }));
    const rotated = await open(location, { targets: ['forward http://app.test:3000/hook?key=k'] });
    expect(await rotated.outstanding()).toMatchObject([{ leads: 1, wanted: true }]);
    const moved = await open(location, { targets: ['forward http://app.test:3001/hook?key=k'] });
    expect(await moved.outstanding()).toEqual([
      { target: 'forward http://app.test:3000', leads: 1, ...mine, wanted: false, wantedElsewhere: true },
    ]);
  });
});
