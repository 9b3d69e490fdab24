import { afterEach, describe, expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/inbox.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { clock, open, takeOne, takeStored } from '../stores.ts';
import { all, arrivalOf } from '../support.ts';
import { inboxIn } from './database.ts';

const address = await sharedPostgres();

/** Of a receiver that notes again, for a minute, that a target has had a lead. */
const loseTwice = (proxy: TcpProxy): Promise<void> =>
  proxy.loseNextCommit('settle_1').then(() => {
    clock.advance(60_000);
    return proxy.loseNextCommit('settle_1');
  });
const proxies: TcpProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop();
});

describe.skipIf(address === undefined)('a COMMIT whose answer is lost', () => {
  async function receivers(options: Parameters<typeof open>[1] = {}) {
    if (address === undefined) throw new Error('no database');
    const proxy = await TcpProxy.start(address);
    proxies.push(proxy);
    const inbox = inboxIn(address);
    const cut = await open(inbox.location({ port: proxy.port }), options);
    const other = await open(inbox.location(), options);
    return { proxy, inbox, cut, other };
  }

  it.each(['cut', 'other'] as const)('is accepted once by who takes it next: %s', async (next) => {
    const { proxy, inbox: database, ...inboxes } = await receivers();
    const { cut } = inboxes;
    await takeOne(cut, arrivalOf({ id: 'before' }));
    // The note that the answer came is a transaction, too.
    await expect.poll(() => database.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    const lost = proxy.loseNextCommit();
    await expect(takeOne(cut, arrivalOf({ id: 'a' }))).rejects.toThrow(CannotStoreError);
    await lost;
    expect(await takeOne(inboxes[next], arrivalOf({ id: 'a' }))).toMatchObject({
      kind: 'accepted',
      attempt: 2,
    });
    for (const inbox of [cut, inboxes.other]) {
      expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
      expect(await takeOne(inbox, arrivalOf({ id: 'before' }))).toMatchObject({ kind: 'duplicate' });
    }
    const accepted = await all(cut.list({ leadId: 'a', verdicts: ['accepted'] }));
    expect(accepted.map(({ attempt }) => attempt)).toEqual([2]);
    expect((await all(cut.leads({}))).map(({ leadId }) => leadId)).toEqual(['before', 'a']);
  });

  /** The COMMIT of a lead whose answer is on its way for three seconds. */
  async function answeredLate() {
    const found = await receivers();
    const { proxy, inbox, cut } = found;
    await takeOne(cut, arrivalOf({ id: 'before' }));
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    const held = proxy.holdNextCommit();
    const taken = takeOne(cut, arrivalOf({ id: 'a' }));
    const pass = await held;
    await inbox.query(`UPDATE S.unconfirmed SET at = at - interval '3s' WHERE seqs <> '{}'`);
    clock.advance(3000);
    return { ...found, taken, pass };
  }

  it.each([{ targets: [] }, { targets: ['t'] }])(
    'that is late is not believed once another receiver took the lead: $targets',
    async ({ targets }) => {
      const { inbox, other, taken, pass } = await answeredLate();
      const next = await open(inbox.location(), { targets, leaseMs: 60_000 });
      const took = await takeStored(next, arrivalOf({ id: 'a' }));
      pass();
      await expect(taken).rejects.toThrow(CannotStoreError);
      if (targets.length > 0) expect(await next.settle([{ ...took, target: 't' }])).toEqual(['accepted']);
      expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
      const accepted = await all(other.list({ leadId: 'a', verdicts: ['accepted'] }));
      expect(accepted.map(({ attempt }) => attempt)).toEqual([2]);
    },
  );

  it('that is late is believed where nobody took the lead meanwhile, and nobody does afterwards', async () => {
    const { other, taken, pass } = await answeredLate();
    pass();
    expect(await taken).toMatchObject({ kind: 'accepted' });
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it.each([
    { renewalMs: 1600, verdict: { status: 'fulfilled', value: { kind: 'accepted' } } },
    { renewalMs: 2600, verdict: { status: 'rejected', reason: expect.any(CannotStoreError) as unknown } },
  ])(
    'that is late is believed where the renewal is answered in time: $renewalMs ms',
    async ({ renewalMs, verdict }) => {
      const { proxy, inbox, cut } = await receivers();
      const held = proxy.holdNextCommit();
      const taken = Promise.allSettled([takeOne(cut, arrivalOf({ id: 'a' }))]);
      const pass = await held;
      const renewed = proxy.holdNextCommit();
      clock.advance(1600);
      pass();
      const passRenewal = await renewed;
      const [row] = await inbox.query(
        `SELECT at > clock_timestamp() + interval '500ms' AND at < clock_timestamp() + interval '2s' AS holds FROM S.unconfirmed`,
      );
      expect(row).toEqual({ holds: true });
      clock.advance(renewalMs);
      passRenewal();
      expect(await taken).toMatchObject([verdict]);
    },
  );

  it('that is believed late keeps out a receiver that has just found it lost', async () => {
    const { inbox, cut, other } = await receivers();
    await takeOne(cut, arrivalOf({ id: 'a' }));
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    await inbox.query(`UPDATE S.unconfirmed SET seqs = '{[1,2)}', at = at - interval '3s'`);
    const { taking } = await inbox.client.begin(async (renewing) => {
      await renewing.unsafe(`UPDATE "${inbox.name}".unconfirmed SET at = clock_timestamp()`);
      const taking = takeOne(other, arrivalOf({ id: 'a' }));
      await until(
        async () =>
          (
            await inbox.query(
              `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"${inbox.name}".unconfirmed%'`,
            )
          ).length > 0,
        'the receiver that waits',
      );
      return { taking };
    });
    await inbox.query(`UPDATE S.unconfirmed SET seqs = '{}'`);
    expect(await taking).toMatchObject({ kind: 'duplicate' });
  });

  it('leaves nothing to be accepted again once its receiver says that it was answered', async () => {
    const { inbox, cut, other } = await receivers();
    await takeOne(cut, arrivalOf({ id: 'a' }));
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
  });

  it('is not supposed where the note that it came was cut off', async () => {
    const { proxy, inbox, cut } = await receivers();
    await takeOne(cut, arrivalOf({ id: 'a' }));
    proxy.cut();
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
  });

  it('is accepted by another receiver when its own was killed', async () => {
    const { inbox, cut, other } = await receivers();
    await takeOne(cut, arrivalOf({ id: 'a' }));
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    // As the row is when a receiver ends between COMMIT and its answer.
    await inbox.query(`UPDATE S.unconfirmed SET seqs = '{[1,2)}', at = at - interval '3s'`);
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  // Seed 29 of the simulation.
  it('is known to the receiver that heard of it, however long the database refuses the note', async () => {
    const { inbox, cut, other } = await receivers({ targets: ['t'], leaseMs: 60_000 });
    const stored = await takeStored(cut, arrivalOf({ id: 'a' }));
    expect(await cut.settle([{ ...stored, target: 't' }])).toEqual(['accepted']);
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    // As the row is while it cannot be emptied.
    await inbox.query(`UPDATE S.unconfirmed SET seqs = '{[1,2)}', at = at - interval '3s'`);
    expect(await takeOne(cut, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  });

  it('of a target that is done is made once more, and keeps what came of it once', async () => {
    const { proxy, cut, other } = await receivers({ targets: ['t'], leaseMs: 60_000 });
    const stored = await takeStored(cut, arrivalOf({ id: 'a' }));
    const lost = proxy.loseNextCommit();
    const result = { ok: true, answer: '200', durationMs: 1, at: 1 };
    expect(await cut.settle([{ ...stored, target: 't', result }])).toEqual(['accepted']);
    await lost;
    const deliveries = await all(other.list({}));
    expect(deliveries).toMatchObject([{ verdict: 'accepted', status: 200, results: [result] }]);
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it('of a target that is done is made again once the database is back', async () => {
    const { proxy, cut, other } = await receivers({ targets: ['t'], leaseMs: 60_000 });
    const stored = await takeStored(cut, arrivalOf({ id: 'a' }));
    const lost = proxy.loseNextCommit('settle_1').then(() => proxy.refuse());
    const { length } = clock.sleeps;
    const settled = cut.settle([{ ...stored, target: 't' }]);
    await lost;
    await expect.poll(() => clock.sleeps.slice(length)).toContain(250);
    clock.advance(250);
    await expect.poll(() => clock.sleeps.slice(length)).toContain(750);
    proxy.resume();
    clock.advance(750);
    expect(await settled).toEqual(['accepted']);
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it('of a target that is done is not made again once the inbox closes', async () => {
    const { proxy, cut } = await receivers({ targets: ['t'], leaseMs: 60_000 });
    const stored = await takeStored(cut, arrivalOf({ id: 'a' }));
    const lost = proxy.loseNextCommit('settle_1').then(() => proxy.refuse());
    const { length } = clock.sleeps;
    const settled = cut.settle([{ ...stored, target: 't' }]);
    await lost;
    await expect.poll(() => clock.sleeps.slice(length)).toContain(250);
    await Promise.all([cut.close(), expect(settled).rejects.toThrow(CannotStoreError)]);
  });

  it('of a target that is done is not made again once the receiver has drained, and nothing says that it was', async () => {
    const drained = new AbortController();
    const givenUp = drained.signal;
    const { proxy, cut, other } = await receivers({ targets: ['t'], leaseMs: 60_000, givenUp });
    const stored = await takeStored(cut, arrivalOf({ id: 'a' }));
    const lost = proxy.loseNextCommit('settle_1').then(() => proxy.refuse());
    const { length } = clock.sleeps;
    const settled = expect(cut.settle([{ ...stored, target: 't' }])).rejects.toThrow(CannotStoreError);
    await lost;
    await expect.poll(() => clock.sleeps.slice(length)).toContain(250);
    drained.abort();
    await settled;
    proxy.resume();
    await expect.poll(async () => (await takeOne(other, arrivalOf({ id: 'a' }))).kind).toBe('accepted');
  });

  it('of a target that is done is accepted with the next delivery, and the target has had the lead', async () => {
    const { proxy, cut, other } = await receivers({ targets: ['t'], leaseMs: 60_000 });
    const stored = await takeStored(cut, arrivalOf({ id: 'a' }));
    const lost = loseTwice(proxy);
    await expect(cut.settle([{ ...stored, target: 't' }])).rejects.toThrow(CannotStoreError);
    await lost;
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
    expect(await takeOne(cut, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it.each([
    { order: ['second'], verdicts: ['accepted'], left: ['pending', 'accepted'] },
    { order: ['first', 'second'], verdicts: ['accepted', 'duplicate'], left: ['accepted', 'duplicate'] },
    { order: ['second', 'first'], verdicts: ['accepted', 'duplicate'], left: ['duplicate', 'accepted'] },
  ] as const)(
    'is accepted once where a copy of the lead is done next: $order',
    async ({ order, verdicts, left }) => {
      const { proxy, cut, other } = await receivers({ targets: ['t'], leaseMs: 60_000 });
      const first = await takeStored(cut, arrivalOf({ id: 'a' }));
      const second = await takeStored(cut, arrivalOf({ id: 'a' }));
      const lost = loseTwice(proxy);
      await expect(cut.settle([{ ...first, target: 't' }])).rejects.toThrow(CannotStoreError);
      await lost;
      const leases = order.map((which) => ({ ...{ first, second }[which], target: 't' }));
      expect(await cut.settle(leases)).toEqual(verdicts);
      const deliveries = await all(other.list({ leadId: 'a' }));
      expect(deliveries.toReversed().map(({ verdict }) => verdict)).toEqual(left);
      expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
    },
  );

  it('is recorded as accepted where a copy counted as a duplicate in that COMMIT', async () => {
    const { proxy, cut, other } = await receivers({ targets: ['t', 'u'], leaseMs: 60_000 });
    const first = await takeStored(cut, arrivalOf({ id: 'a' }));
    const second = await takeStored(cut, arrivalOf({ id: 'a' }));
    const lost = loseTwice(proxy);
    const settled = cut.settle([
      { ...first, target: 't' },
      { ...first, target: 'u' },
      { ...second, target: 't' },
    ]);
    await expect(settled).rejects.toThrow(CannotStoreError);
    await lost;
    expect(await cut.settle([{ ...second, target: 'u' }])).toEqual(['accepted']);
    const deliveries = await all(other.list({ leadId: 'a' }));
    expect(deliveries.map(({ verdict }) => verdict)).toEqual(['accepted', 'pending']);
  });

  it('stays to be accepted while a receiver with a target hands the lead on', async () => {
    const { inbox, cut, other } = await receivers();
    await takeOne(cut, arrivalOf({ id: 'a' }));
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    const both = await open(inbox.location(), { targets: ['t', 'u'], leaseMs: 1 });
    const b = await takeStored(both, arrivalOf({ id: 'b' }));
    await both.settle([{ ...b, target: 't' }]);
    await inbox.query(`UPDATE S.unconfirmed SET seqs = '{[1,2)}', at = at - interval '3s'`);
    const one = await open(inbox.location(), { targets: ['t'] });
    const [a, accepted] = await one.take([arrivalOf({ id: 'a' }), arrivalOf({ id: 'b' })]);
    expect([a?.kind, accepted?.kind]).toEqual(['pending', 'accepted']);
    if (a === undefined || !('seq' in a)) throw new Error('not stored');
    expect(await one.settle([{ ...a, target: 't' }])).toEqual(['accepted']);
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it('is not waited for until a time that the clock of the database had before', async () => {
    const { inbox, cut, other } = await receivers();
    await takeOne(cut, arrivalOf({ id: 'a' }));
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    await inbox.query(`UPDATE S.unconfirmed SET seqs = '{[1,2)}', at = at + interval '1h'`);
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  });

  it('is not supposed where the database was killed and forgot that it came', async () => {
    const { inbox, cut, other } = await receivers();
    await takeOne(cut, arrivalOf({ id: 'a' }));
    await expect.poll(() => inbox.query(`SELECT 1 FROM S.unconfirmed WHERE seqs <> '{}'`)).toHaveLength(0);
    // As the row is after a crash: that it was emptied is not waited for until it is on disk.
    await inbox.query(`UPDATE S.unconfirmed SET seqs = '{[1,2)}', at = at - interval '3s'`);
    expect(await takeOne(cut, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
    expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
  });

  it('more than once is accepted once', async () => {
    const { proxy, cut, other } = await receivers();
    for (let time = 0; time < 2; time += 1) {
      const lost = proxy.loseNextCommit('again');
      await expect(takeOne(cut, arrivalOf({ id: 'again' }))).rejects.toThrow(CannotStoreError);
      await lost;
    }
    expect(await takeOne(other, arrivalOf({ id: 'again' }))).toMatchObject({ kind: 'accepted', attempt: 3 });
    const accepted = await all(other.list({ leadId: 'again', verdicts: ['accepted'] }));
    expect(accepted.map(({ attempt }) => attempt)).toEqual([3]);
  });
});
