import { describe, expect, it } from 'vitest';
import type { VerdictKind } from '../../src/inbox/query-types.ts';
import { otherDelivery, rejection } from '../../src/webhook/delivery-answer.ts';
import { open, stores, takeOne } from './stores.ts';
import { all, arrivalOf, deliveryOf } from './support.ts';

const wrong = rejection('wrong_credential', 'no');

describe.each(stores)('rejected deliveries in $name', ({ newLocation }) => {
  it('have a limit apart from the one of other events', async () => {
    const inbox = await open(newLocation());
    const other = otherDelivery('other_event', 'no field of a lead is in it');
    await inbox.reject([{ delivery: deliveryOf('x'), rejection: wrong }]);
    const events = Array.from({ length: 1010 }, (_, i) => ({
      delivery: deliveryOf(`{"type":"invoice","number":${i}}`.padEnd(20_000)),
      rejection: other,
    }));
    for (let i = 0; i < events.length; i += 101) await inbox.reject(events.slice(i, i + 101));
    const [newest, ...older] = await all(inbox.list({ verdicts: ['other'] }));
    expect(older).toHaveLength(999);
    expect(newest).toMatchObject({ verdict: 'other', reason: 'other_event', status: 200, leadId: undefined });
    expect(newest?.body).toHaveLength(16_384);
    const verdicts = async (...asked: VerdictKind[]): Promise<Set<string>> =>
      new Set((await all(inbox.list({ verdicts: asked }))).map(({ verdict }) => verdict));
    expect(await verdicts('rejected')).toEqual(new Set(['rejected']));
    expect(await verdicts('rejected', 'other')).toEqual(new Set(['rejected', 'other']));
    expect(await verdicts('accepted', 'duplicate', 'other')).toEqual(new Set(['other']));
    expect((await inbox.erase({ leadIds: [], rejected: [newest?.seq ?? 0] })).rejected).toBe(1);
    expect(await all(inbox.list({ verdicts: ['other'] }))).toHaveLength(999);
    expect(await all(inbox.leads({}))).toEqual([]);
  });

  it('keep no other event out, however many of them wait to be stored', async () => {
    const inbox = await open(newLocation());
    const flood = Array.from({ length: 1000 }, () =>
      inbox.reject([{ delivery: deliveryOf('x'), rejection: wrong }]),
    );
    const rejection = otherDelivery('other_event', 'no field of a lead is in it');
    await inbox.reject([{ delivery: deliveryOf('{"type":"invoice"}'), rejection }]);
    await Promise.all(flood);
    expect(await all(inbox.list({ verdicts: ['other'] }))).toHaveLength(1);
  });

  it('are found by their id, and do not make it known', async () => {
    const inbox = await open(newLocation());
    await inbox.reject([{ delivery: deliveryOf('{"id":"a"}'), rejection: wrong, leadId: 'a' }]);
    const stored = { verdict: 'rejected', reason: 'wrong_credential', detail: 'no', status: 401 };
    expect(await all(inbox.list({ leadId: 'a' }))).toMatchObject([stored]);
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted', attempt: 1 });
  });
});
