import { describe, expect, it } from 'vitest';
import { open, stores, takeOne } from './stores.ts';
import { all, arrivalOf, deliveryOf } from './support.ts';

const repeated = (times: number, bodyOf: (i: number) => string) =>
  Array.from({ length: times }, (_, i) => ({ leadId: 'a', delivery: deliveryOf(bodyOf(i)) }));

describe.each(stores)('the repeats of one lead in $name', ({ newLocation }) => {
  it('are bounded: the first delivery, the last 100 that differ and the last 100 that do not', async () => {
    const inbox = await open(newLocation());
    const first = arrivalOf({ id: 'a' });
    await takeOne(inbox, first);
    await inbox.take(repeated(150, (i) => `{"id":"a","sentAt":${i}}`));
    await inbox.take(Array.from({ length: 130 }, () => first));
    await inbox.take([arrivalOf({ id: 'b' })]);
    const kept = (await all(inbox.list({ leadId: 'a' }))).reverse();
    const attempts = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
    expect(kept.map(({ attempt }) => attempt)).toEqual([1, ...attempts(52, 151), ...attempts(182, 281)]);
    expect(await takeOne(inbox, first)).toMatchObject({ kind: 'duplicate', attempt: 282 });
  });

  it('are compared in detail as far as one batch has time for it', async () => {
    const inbox = await open(newLocation());
    const lead = (n: number): string => `{"id":"a","n":${n},"text":"${'x'.repeat(10_000)}"}`;
    await takeOne(inbox, { leadId: 'a', delivery: deliveryOf(lead(0)) });
    const results = await inbox.take(repeated(100, (i) => lead(i + 1)));
    const named = results.map((result) => (result.kind === 'rejected' ? '' : String(result.differs)));
    expect(new Set(named)).toEqual(new Set(['n', '*']));
    expect(await takeOne(inbox, { leadId: 'a', delivery: deliveryOf(lead(7)) })).toMatchObject({
      differs: ['n'],
    });
  });
});
