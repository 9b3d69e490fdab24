import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { clock, open, sharedStores, stores, takeStored } from './stores.ts';
import { all, arrivalOf, deliveryOf, doneAt } from './support.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const forward = 'forward http://127.0.0.1:45678/hook';
const at = (receivedAt: number, body: string) => ({ delivery: deliveryOf(body, { receivedAt }) });

describe.each(stores)('a lookup of leads in a store in $name', ({ newLocation }) => {
  it('tells when each lead first came, and its digest, in the order of the question', async () => {
    const inbox = await open(newLocation());
    const first = await takeStored(inbox, arrivalOf({ id: 'a' }, at(1000, '{"id":"a","n":1}')));
    await takeStored(inbox, arrivalOf({ id: 'a' }, at(2000, '{"id":"a","n":2}')));
    const second = await takeStored(inbox, arrivalOf({ id: 'b' }, at(3000, '{"id":"b"}')));
    expect(await inbox.lookUp(['b', 'none', 'a', 'b'])).toEqual([
      { seq: second.seq, receivedAt: 3000, digest: sha256('{"id":"b"}'), isWaiting: false },
      undefined,
      { seq: first.seq, receivedAt: 1000, digest: sha256('{"id":"a","n":1}'), isWaiting: false },
      { seq: second.seq, receivedAt: 3000, digest: sha256('{"id":"b"}'), isWaiting: false },
    ]);
    expect(await inbox.lookUp([])).toEqual([]);
  });

  it('takes no rejected delivery for a lead that was received', async () => {
    const inbox = await open(newLocation());
    const delivery = deliveryOf('{"id":"forged"}');
    await inbox.reject([{ delivery, leadId: 'forged', rejection: rejection('wrong_credential', '') }]);
    expect(await inbox.lookUp(['forged'])).toEqual([undefined]);
    expect(await all(inbox.seqsSince(0))).toSatisfy((batches: number[][]) => batches.flat().length === 0);
  });

  it('says which leads some target has not had', async () => {
    const inbox = await open(newLocation(), { targets: [forward] });
    const had = await takeStored(inbox, arrivalOf({ id: 'had' }));
    await takeStored(inbox, arrivalOf({ id: 'not' }));
    await inbox.record([doneAt(had, forward)]);
    const found = await inbox.lookUp(['had', 'not']);
    expect(found.map((lead) => lead?.isWaiting)).toEqual([false, true]);
  });

  it('numbers the leads by when they first came, and gives their own bytes by number', async () => {
    const inbox = await open(newLocation());
    await takeStored(inbox, arrivalOf({ id: 'old' }, at(1000, '{"id":"old"}')));
    const middle = await takeStored(inbox, {
      leadId: 'new',
      delivery: deliveryOf('{"data":{"id":"new"}}', { receivedAt: 2000 }),
      place: { start: 8, end: 20 },
    });
    await takeStored(inbox, arrivalOf({ id: 'old' }, at(3000, '{"id":"old"}')));
    expect((await all(inbox.seqsSince(2000))).flat()).toEqual([middle.seq]);
    const [lead, ...more] = await inbox.leadsBySeq([middle.seq, 999]);
    expect(more).toEqual([]);
    expect(lead).toMatchObject({ seq: middle.seq, leadId: 'new', receivedAt: 2000 });
    expect(Buffer.from(lead?.body ?? []).toString()).toBe('{"id":"new"}');
    expect((await inbox.lookUp(['new']))[0]?.digest).toBe(sha256('{"id":"new"}'));
  });

  it('still knows the leads whose body was pruned, and numbers them by when they first came', async () => {
    const inbox = await open(newLocation());
    await takeStored(inbox, arrivalOf({ id: 'old' }, at(1000, '{"id":"old"}')));
    const { seq } = await takeStored(inbox, arrivalOf({ id: 'a\0b' }, at(2000, '{"id":"a\\u0000b"}')));
    await takeStored(inbox, arrivalOf({ id: 'kept' }, at(9000, '{"id":"kept"}')));
    await inbox.prune(5000);
    const pruned = (await all(inbox.prunedSince(2000))).flat();
    expect(pruned).toEqual([{ leadId: 'a\0b', seq, receivedAt: 2000 }]);
    const digest = sha256('{"id":"a\\u0000b"}');
    expect(await inbox.lookUp(['a\0b'])).toEqual([{ seq, receivedAt: 2000, digest, isWaiting: false }]);
    expect(await inbox.leadsBySeq([seq])).toEqual([]);
  });
});

it.each(sharedStores)('numbers more leads than one reading takes: $name', async ({ newLocation }) => {
  const location = newLocation();
  const inbox = await open(location);
  const leads = Array.from({ length: 10_500 }, (_, i) => arrivalOf({ id: `lead_${i}` }));
  for (let i = 0; i < leads.length; i += 1000) await inbox.take(leads.slice(i, i + 1000));
  const reader = await openInboxReader({ location, clock });
  const seqs = (await all(reader.seqsSince(0))).flat();
  await reader.close();
  expect(new Set(seqs).size).toBe(leads.length);
});
