import { describe, expect, it } from 'vitest';
import { findPerson } from '../../src/inbox/find-person.ts';
import type { Arrival, Inbox } from '../../src/inbox/inbox.ts';
import { maxRepeatsKept } from '../../src/inbox/store-options.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { open, sharedStores, stores, takeAllStored, takeOne, takeStored } from './stores.ts';
import { all, arrivalOf, arrivalsTogether, deliveryOf, doneAt, never } from './support.ts';

const target = 'forward http://localhost:3000/hook';
const only = (leadId: string) => ({ leadIds: [leadId], rejected: [] });
const ada = { id: 'ada', category: 'home', contact: { email: 'ada@example.com' } };
const bob = { id: 'bob', category: 'home', contact: { email: 'bob@example.com' } };
const eve = { id: 'eve', category: 'home', contact: { email: 'eve@example.com' } };

/** Leads in an envelope, which names the first of them, too. */
function together(leads: readonly { readonly id: string }[]): Arrival[] {
  const texts = leads.map((lead) => JSON.stringify(lead));
  return arrivalsTogether(texts, {
    ...{ head: '{"about":"ada@example.com","leads":[ ', separator: ' , ', tail: ' ]}' },
    path: '/leads?for=ada@example.com',
    rawHeaders: [
      ['Content-Type', 'application/json'],
      ['X-About', 'ada@example.com'],
    ],
  });
}

/** All that can be read of an inbox, as one text. */
async function textOf(inbox: Inbox): Promise<string> {
  const deliveries = await all(inbox.list({}));
  const texts = deliveries.map(
    ({ body, ...rest }) => `${JSON.stringify(rest)} ${Buffer.from(body).toString()}`,
  );
  return texts.join('\n');
}

describe.each(stores)('erasing from an inbox in $name', ({ newLocation }) => {
  it('leaves nothing of the lead, its repeats and its rejected deliveries, and all of the others', async () => {
    const inbox = await open(newLocation());
    await takeOne(inbox, arrivalOf(ada));
    await takeOne(inbox, arrivalOf({ ...ada, note: 'again' } as typeof ada));
    await takeOne(inbox, arrivalOf(bob));
    const refused = {
      delivery: deliveryOf(JSON.stringify(ada)),
      rejection: rejection('wrong_credential', 'no'),
    };
    await inbox.reject([{ ...refused, leadId: 'ada' }, refused]);
    const [unread] = await all(inbox.list({ verdicts: ['rejected'] }));
    const erased = await inbox.erase({ leadIds: ['ada'], rejected: [unread?.seq ?? 0] });
    expect(erased).toMatchObject({ leads: 1, deliveries: 2, rejected: 2, waiting: 0, remains: undefined });
    expect(await textOf(inbox)).not.toContain('ada');
    expect((await all(inbox.leads({}))).map(({ leadId }) => leadId)).toEqual(['bob']);
  });

  it('knows the id for ever, stores nothing of it any more, and forwards it to no target', async () => {
    const inbox = await open(newLocation(), { targets: [target] });
    const { seq } = await takeStored(
      inbox,
      arrivalOf(ada, { delivery: deliveryOf(JSON.stringify(ada), { receivedAt: 7 }) }),
    );
    expect(await inbox.erase(only('ada'))).toMatchObject({ leads: 1, deliveries: 1, waiting: 1 });
    expect(await inbox.targetCounts()).toEqual([]);
    const again = { kind: 'duplicate', leadId: 'ada', attempt: 2, firstAt: 7, isErased: true };
    expect(await takeOne(inbox, arrivalOf(ada))).toMatchObject(again);
    expect(await takeOne(inbox, arrivalOf(ada, { source: 'backfill' }))).toMatchObject(again);
    const refused = {
      delivery: deliveryOf(JSON.stringify(ada)),
      rejection: rejection('wrong_credential', 'no'),
    };
    await inbox.reject([refused, { ...refused, leadId: 'ada' }]);
    expect(await all(inbox.list({}))).toEqual([]);
    expect(await inbox.has(['ada', 'bob'])).toEqual(new Set(['ada']));
    expect(await inbox.lookUp(['bob', 'ada'])).toEqual([
      undefined,
      { seq, receivedAt: 7, digest: undefined, isWaiting: false },
    ]);
    expect((await all(inbox.seqsSince(0))).flat()).toEqual([]);
    expect(await inbox.erase(only('ada'))).toMatchObject({ leads: 0, deliveries: 0, rejected: 0 });
    expect(await takeOne(inbox, arrivalOf(ada))).toMatchObject(again);
  });

  it('leaves the own bytes of other leads of the delivery, and nothing else of it', async () => {
    const inbox = await open(newLocation());
    await inbox.take(together([bob, ada, eve]));
    expect(await inbox.erase(only('ada'))).toMatchObject({ leads: 1, deliveries: 1 });
    const kept = await all(inbox.list({}));
    expect(kept).toHaveLength(2);
    for (const { body, headers, path } of kept) {
      expect(JSON.parse(Buffer.from(body).toString())).toEqual([bob, eve]);
      expect([headers, path]).toEqual([[['Content-Type', 'application/json']], '/leads']);
    }
    expect((await all(inbox.leads({}))).map(({ body }) => Buffer.from(body).toString())).toEqual(
      [bob, eve].map((lead) => JSON.stringify(lead)),
    );
    await inbox.erase({ leadIds: ['bob', 'eve'], rejected: [] });
    expect(await all(inbox.list({}))).toEqual([]);
  });

  it('leaves nothing of a repeat that came together with others, and whose own record is not kept any more', async () => {
    const inbox = await open(newLocation());
    await takeOne(inbox, arrivalOf(bob));
    await inbox.take(together([ada, bob, eve]));
    await inbox.take(together([bob, ada, eve]));
    for (let n = 0; n < maxRepeatsKept; n += 1) await takeOne(inbox, arrivalOf(ada));
    expect(await all(inbox.list({ leadId: 'ada' }))).toHaveLength(maxRepeatsKept + 1);
    expect(await inbox.erase(only('ada'))).toMatchObject({ leads: 1 });
    expect(await textOf(inbox)).not.toContain('ada');
    expect((await all(inbox.leads({}))).map(({ body }) => Buffer.from(body).toString())).toEqual(
      [bob, eve].map((lead) => JSON.stringify(lead)),
    );
  });

  it('leaves nothing of a lead that was pruned while others of its delivery waited', async () => {
    const inbox = await open(newLocation(), { targets: [target] });
    const [first = never()] = await takeAllStored(inbox, together([ada, bob]));
    await inbox.record([doneAt(first, target)]);
    expect(await inbox.prune(Number.MAX_SAFE_INTEGER)).toBe(1);
    const person = { by: 'email', value: 'ada@example.com' } as const;
    expect(await findPerson(inbox, person)).toMatchObject({ leads: [{ leadId: 'ada', deliveries: 0 }] });
    const before = await textOf(inbox);
    expect(await inbox.erase(only('eve'))).toMatchObject({ leads: 0 });
    expect(await textOf(inbox)).toBe(before);
    expect(await inbox.erase(only('ada'))).toMatchObject({ leads: 1, deliveries: 0, waiting: 0 });
    expect(await textOf(inbox)).not.toContain('ada');
    expect(
      (await all(inbox.leads({ state: 'waiting' }))).map(({ body }) => Buffer.from(body).toString()),
    ).toEqual([JSON.stringify(bob)]);
  });

  it('stores nothing of an erased lead in a rejected delivery, wherever in its body it is', async () => {
    const inbox = await open(newLocation());
    await takeOne(inbox, arrivalOf(ada));
    await inbox.erase(only('ada'));
    const inside = { event: { data: { object: { deeper: { ...ada, id: 'ada' } } } } };
    const bodies = [
      JSON.stringify(inside),
      JSON.stringify(inside).replace('"ada"', String.raw`"\u0061da"`),
      JSON.stringify(ada).slice(0, 40),
      `{"leads":[{"id":7},{"id" : "ada"`,
    ];
    const why = rejection('not_a_lead', 'there is nothing at /lead');
    await inbox.reject(bodies.map((body) => ({ delivery: deliveryOf(body), rejection: why })));
    expect(await all(inbox.list({}))).toEqual([]);
  });

  it('stores nothing of an erased lead whose nonce was replayed', async () => {
    const inbox = await open(newLocation(), { nonceLifetimeMs: 60_000 });
    await takeOne(inbox, arrivalOf(ada));
    await inbox.erase(only('ada'));
    expect(await takeOne(inbox, arrivalOf(bob, { nonce: 'n' }))).toMatchObject({ kind: 'accepted' });
    expect(await takeOne(inbox, arrivalOf(ada, { nonce: 'n' }))).toMatchObject({ kind: 'rejected' });
    expect(await textOf(inbox)).not.toContain('ada');
  });

  it('keeps an id that came only in rejected deliveries out for ever, where it is named', async () => {
    const inbox = await open(newLocation());
    await inbox.reject([
      { delivery: deliveryOf('{}'), rejection: rejection('wrong_credential', 'no'), leadId: 'ada' },
    ]);
    expect(await inbox.erase(only('ada'))).toMatchObject({ leads: 0, deliveries: 0, rejected: 1 });
    expect(await takeOne(inbox, arrivalOf(ada))).toMatchObject({ kind: 'duplicate', isErased: true });
    expect(await inbox.erase(only('bob'))).toMatchObject({ leads: 0, rejected: 0 });
    expect(await takeOne(inbox, arrivalOf(bob))).toMatchObject({ kind: 'accepted' });
  });

  it('tells ids apart that are alike', async () => {
    const inbox = await open(newLocation());
    const ids = ['a', 'a\0', 'a\ud800', 'json:"a"', '"a"'];
    await inbox.take(ids.map((id) => arrivalOf({ id })));
    await inbox.erase({ leadIds: ids.slice(1), rejected: [] });
    expect((await all(inbox.leads({}))).map(({ leadId }) => leadId)).toEqual(['a']);
    for (const id of ids) {
      expect(await takeOne(inbox, arrivalOf({ id }))).toMatchObject(id === 'a' ? {} : { isErased: true });
    }
    expect(await takeOne(inbox, arrivalOf({ id: 'a\udc00' }))).toMatchObject({ kind: 'accepted' });
  });
});

describe.each(sharedStores)(
  'erasing from an inbox in $name that another receiver has open',
  ({ newLocation }) => {
    it('is seen by that one at once', async () => {
      const location = newLocation();
      const receiver = await open(location, { targets: [target] });
      const stored = await takeStored(receiver, arrivalOf(ada));
      const other = await open(location);
      expect(await other.erase(only('ada'))).toMatchObject({ leads: 1, waiting: 1, remains: undefined });
      const result = { ok: true, answer: '200', durationMs: 7, at: 6, kind: 'retry' } as const;
      await receiver.record([{ ...doneAt(stored, target), result }]);
      expect((await receiver.forwards(['ada'])).size).toBe(0);
      expect(await receiver.makeDue(['ada'])).toBe(0);
      expect(await takeOne(receiver, arrivalOf(ada))).toMatchObject({ kind: 'duplicate', isErased: true });
      expect(await receiver.has(['ada'])).toEqual(new Set(['ada']));
      expect(await all(receiver.list({}))).toEqual([]);
    });

    it('is seen in a body that this one has just read', async () => {
      const location = newLocation();
      const [receiver, other] = [await open(location), await open(location)];
      await receiver.take(together([ada, bob]));
      expect(await textOf(receiver)).toContain('ada@example.com');
      await other.erase(only('ada'));
      expect(await textOf(receiver)).not.toContain('ada');
      expect((await receiver.leadsBySeq([2])).map(({ body }) => Buffer.from(body).toString())).toEqual([
        JSON.stringify(bob),
      ]);
    });

    it('never lets a lead in again that arrives meanwhile', async () => {
      const location = newLocation();
      const [receiver, other] = [await open(location), await open(location)];
      const ids = Array.from({ length: 40 }, (_, i) => `lead-${i}`);
      await receiver.take(ids.map((id) => arrivalOf({ id })));
      const arriving = ids.map((id) => takeOne(receiver, arrivalOf({ id })));
      const erasing = other.erase({ leadIds: ids, rejected: [] });
      const later = ids.map((id) => takeOne(receiver, arrivalOf({ id })));
      expect(await Promise.all([...arriving, ...later])).toEqual(
        [...ids, ...ids].map((leadId) => expect.objectContaining({ kind: 'duplicate', leadId }) as unknown),
      );
      await erasing;
      expect(await all(other.list({}))).toEqual([]);
    });
  },
);
