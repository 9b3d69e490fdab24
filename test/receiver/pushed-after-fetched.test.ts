import { describe, expect, it } from 'vitest';
import type { Arrival, Inbox } from '../../src/inbox/inbox.ts';
import { deliveryOfPulledLead } from '../../src/receiver/backfill.ts';
import { Outbox } from '../../src/receiver/outbox.ts';
import { retryDelivery } from '../../src/receiver/retry-delivery.ts';
import { firstDelivery, groupByRequest } from '../../src/receiver/stored-deliveries.ts';
import type { CheckedDelivery } from '../../src/webhook/check-delivery.ts';
import type { Verifier } from '../../src/webhook/scheme.ts';
import { clock, open, stores, takeOne } from '../inbox/stores.ts';
import { all, deliveryOf } from '../inbox/support.ts';

const targets = ['app'];
const fetchedBytes = (id: string): string => JSON.stringify({ id, listed: true });

const fetched = (id: string): Arrival => ({
  leadId: id,
  source: 'backfill',
  delivery: deliveryOfPulledLead(
    { id, bytes: Buffer.from(fetchedBytes(id)), createdAt: undefined, category: undefined },
    new URL('https://service.test/v1'),
    clock.now(),
  ).delivery,
});

/** One request that pushes the leads, in an envelope. */
function pushed(ids: readonly string[], path: string): Arrival[] {
  const text = JSON.stringify({ leads: ids.map((id) => ({ id })) });
  const delivery = deliveryOf(text, { path, receivedAt: clock.now() });
  return ids.map((leadId) => {
    const lead = JSON.stringify({ id: leadId });
    const start = text.indexOf(lead);
    return { delivery, leadId, place: { start, end: start + lead.length } };
  });
}

const shown = ({ source, delivery, leads }: CheckedDelivery) => ({
  source,
  path: delivery.path,
  body: Buffer.from(delivery.body).toString(),
  leads: leads.map(({ lead }) => Buffer.from(lead.bytes).toString()),
});

/** What an outbox hands on, until nothing is due. */
async function handedOn(inbox: Inbox) {
  const end = new AbortController();
  const handed: ReturnType<typeof shown>[] = [];
  const outbox = new Outbox({
    inbox,
    targets: [{ name: 'app', isWhole: true, deliver: () => [] }],
    verifier: { scheme: { credentialHeaders: [] }, keys: [] } as unknown as Verifier,
    clock,
    random: () => 0.5,
    note: ({ kind }) => expect.unreachable(kind),
    sentenceOf: String,
    signal: end.signal,
  });
  await outbox.run({
    async handOn(checked, pending) {
      handed.push(shown(checked));
      for (const { stored } of pending) expect(stored).toMatchObject({ attempt: 1, firstAt: clock.now() });
      await inbox.settle(
        pending.map(({ stored: { leadId, seq } }) => ({
          ...{ leadId, seq, target: 'app' },
          result: { ok: true, answer: '200', durationMs: 1, at: clock.now(), kind: 'forward' },
        })),
      );
      if ((await inbox.nextDueAt('app')) === undefined) end.abort();
    },
    isDispatching: () => false,
    release: (leases) => inbox.release(leases),
  });
  return handed.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** What a retry hands on. */
async function retried(inbox: Inbox, ids: readonly string[]) {
  const handed: ReturnType<typeof shown>[] = [];
  const target = {
    name: 'app',
    deliver: (checked: CheckedDelivery, leads: readonly unknown[]) => {
      handed.push(shown(checked));
      return leads.map(() =>
        Promise.resolve({ to: 'forward', ok: true, answer: '200', durationMs: 1, status: 200 } as const),
      );
    },
  };
  const first = await Promise.all(ids.map((id) => firstDelivery(inbox, id)));
  for (const leads of groupByRequest(first))
    await retryDelivery(leads, { target, inbox, clock, hasMoved: false, sentenceOf: String });
  return handed;
}

const resultsOf = async (inbox: Inbox): Promise<unknown[]> =>
  (await all(inbox.list({}))).flatMap(({ seq, results }) => (results.length === 0 ? [] : seq)).reverse();

describe.each(stores)('a lead that was fetched from the service, in $name', ({ newLocation }) => {
  async function inboxWith(...requests: readonly (readonly Arrival[])[]): Promise<Inbox> {
    const inbox = await open(newLocation(), { targets, leaseMs: 1000 });
    for (const arrivals of requests) {
      const taken = await inbox.take(arrivals);
      await inbox.release(taken.flatMap((one) => ('seq' in one ? [{ ...one, target: 'app' }] : [])));
    }
    return inbox;
  }
  const asFetched = (id: string) => ({
    ...{ source: 'backfill', path: '/v1', body: fetchedBytes(id), leads: [fetchedBytes(id)] },
  });
  const asPushed = (path: string, ...ids: string[]) => ({
    ...{ source: 'push', path, body: JSON.stringify({ leads: ids.map((id) => ({ id })) }) },
    leads: ids.map((id) => JSON.stringify({ id })),
  });

  it('is handed on as it was first pushed, and as it was fetched where it never was', async () => {
    const inbox = await inboxWith(
      ...[[fetched('a')], [fetched('b')], [fetched('a')]],
      ...[pushed(['a'], '/first'), pushed(['a'], '/second')],
    );
    await inbox.reject([
      {
        ...{ delivery: deliveryOf(fetchedBytes('b'), { path: '/forged' }), leadId: 'b' },
        rejection: { kind: 'rejected', status: 401, reason: 'wrong_credential', detail: '' },
      },
    ]);
    const expected = [asPushed('/first', 'a'), asFetched('b')];
    expect(await handedOn(inbox)).toEqual(expected);
    expect(await retried(inbox, ['a', 'b'])).toEqual(expected);
    // What came of it stays with the first delivery, as do what differs and the verdict.
    expect(await resultsOf(inbox)).toEqual([1, 2]);
    const listed = (await all(inbox.list({ leadId: 'a' }))).reverse();
    expect(listed.map(({ verdict, differs }) => [verdict, differs])).toEqual([
      ['accepted', undefined],
      ['pending', undefined],
      ['pending', ['listed']],
      ['pending', ['listed']],
    ]);
  });

  it('goes out once with the others of the request that pushed it', async () => {
    const inbox = await inboxWith([fetched('b')], [fetched('d')], pushed(['a', 'b', 'c', 'd'], '/hook'));
    const [handed, ...more] = await handedOn(inbox);
    expect(more).toEqual([]);
    const expected = asPushed('/hook', 'a', 'b', 'c', 'd');
    expect({ ...handed, leads: handed?.leads.toSorted() }).toEqual(expected);
    expect(await retried(inbox, ['a', 'b', 'c', 'd'])).toEqual([expected]);
    expect(await resultsOf(inbox)).toEqual([1, 2, 3, 5]);
  });

  it('and pushed before that is handed on as it was pushed', async () => {
    const inbox = await inboxWith(pushed(['a'], '/first'));
    expect(await takeOne(inbox, fetched('a'))).toMatchObject({ attempt: 2 });
    expect(await retried(inbox, ['a'])).toEqual([asPushed('/first', 'a')]);
  });
});
