import { describe, expect, it } from 'vitest';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { claimFirst, open, stores, takeAllStored, takeOne } from './stores.ts';
import { all, arrivalOf, arrivalsTogether, deliveryOf, doneAt, never } from './support.ts';

describe.each(stores)('pruning an inbox in $name', ({ newLocation }) => {
  it('drops deliveries and still knows the ids', async () => {
    const inbox = await open(newLocation());
    await takeOne(inbox, { leadId: 'old', delivery: deliveryOf('{"id":"old"}', { receivedAt: 1 }) });
    await takeOne(inbox, { leadId: 'new', delivery: deliveryOf('{"id":"new"}', { receivedAt: 9 }) });
    expect(await inbox.prune(9)).toBe(1);
    expect((await all(inbox.list({}))).map(({ leadId }) => leadId)).toEqual(['new']);
    expect((await all(inbox.leads({}))).map(({ leadId }) => leadId)).toEqual(['new']);
    expect(await inbox.has(['old', 'new'])).toEqual(new Set(['old', 'new']));
    expect(await takeOne(inbox, arrivalOf({ id: 'old' }))).toMatchObject({ kind: 'duplicate', firstAt: 1 });
    expect(await takeOne(inbox, arrivalOf({ id: 'third' }))).toMatchObject({ kind: 'accepted' });
    expect((await all(inbox.list({ leadId: 'old' }))).map(({ verdict }) => verdict)).toEqual(['duplicate']);
  });

  it('leaves a digest of the first payload: that another one differs is still noticed, but not where', async () => {
    const inbox = await open(newLocation());
    await takeOne(inbox, { leadId: 'a', delivery: deliveryOf('{"id":"a","n":1}', { receivedAt: 1 }) });
    expect(await inbox.prune(2)).toBe(1);
    const repeat = (n: number) =>
      takeOne(inbox, { leadId: 'a', delivery: deliveryOf(`{"id":"a","n":${n}}`) });
    expect(await repeat(1)).toMatchObject({ differs: undefined });
    expect(await repeat(2)).toMatchObject({ kind: 'duplicate', attempt: 3, differs: ['*'] });
  });

  it('drops rejected deliveries too', async () => {
    const inbox = await open(newLocation());
    const delivery = deliveryOf('no', { receivedAt: 1 });
    await inbox.reject([{ delivery, rejection: rejection('not_json', 'no') }]);
    expect(await inbox.prune(2)).toBe(1);
    expect(await all(inbox.list({}))).toEqual([]);
  });

  it('keeps every body that a lead which waits is in, and each of its repeats', async () => {
    const inbox = await open(newLocation(), { targets: ['t'] });
    const body = '[{"id":"a"},{"id":"b"}]';
    const leads = arrivalsTogether(['{"id":"a"}', '{"id":"b"}'], { receivedAt: 1 });
    const [a = never(), b = never()] = await takeAllStored(inbox, leads);
    await takeOne(inbox, { leadId: 'a', delivery: deliveryOf('{"id":"a"}', { receivedAt: 2 }) });
    await inbox.record([doneAt(b, 't')]);
    expect(await inbox.prune(3)).toBe(1);
    const kept = await all(inbox.list({ leadId: 'a' }));
    expect(kept.map((one) => Buffer.from(one.body).toString())).toEqual(['{"id":"a"}', body]);
    await inbox.record([doneAt(a, 't')]);
    expect(await inbox.prune(3)).toBe(2);
  });

  it('drops a dead lead, of which nothing is to be sent then, unless it was made due', async () => {
    const inbox = await open(newLocation(), { targets: ['t'] });
    await takeOne(inbox, arrivalOf({ id: 'a' }, { delivery: deliveryOf('{"id":"a"}', { receivedAt: 1 }) }));
    for (const isMadeDue of [true, false]) {
      const a = await claimFirst(inbox, 't');
      await inbox.record([{ ...a, target: 't', outcome: 'dead' }]);
      if (isMadeDue) await inbox.makeDue(['a']);
      expect(await inbox.prune(3)).toBe(isMadeDue ? 0 : 1);
    }
    expect(await inbox.makeDue(['a'])).toBe(0);
    expect(await inbox.targetCounts()).toEqual([]);
  });
});
