import { describe, expect, it } from 'vitest';
import type { InboxReader } from '../../src/inbox/inbox.ts';
import type { SearchTerm } from '../../src/inbox/query-types.ts';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { clock, open, sharedStores, stores, takeStored } from './stores.ts';
import { all, arrivalOf, deliveryOf } from './support.ts';

const seqs = async (inbox: Pick<InboxReader, 'list'>, query: Parameters<InboxReader['list']>[0]) =>
  (await all(inbox.list(query))).map(({ seq }) => seq);

/** What a search may find, and how many deliveries it looked at. */
async function searched(
  inbox: Pick<InboxReader, 'search'>,
  text: string,
  query: Parameters<InboxReader['list']>[0] = {},
) {
  const steps = await all(inbox.search([{ field: 'any', text }], query));
  return {
    ids: steps.flatMap(({ candidates }) => candidates.map(({ leadId }) => leadId)),
    looked: steps.reduce((sum, { looked }) => sum + looked, 0),
  };
}

describe.each(stores)('watching an inbox in $name', ({ newLocation }) => {
  it('lists what is between two numbers', async () => {
    const inbox = await open(newLocation());
    await inbox.take(Array.from({ length: 300 }, (_, i) => arrivalOf({ id: `l${i}` })));
    const every = await seqs(inbox, {});
    const [top = 0] = every;
    expect(await seqs(inbox, { before: top - 9 })).toEqual(every.slice(10));
    expect(await seqs(inbox, { after: top - 10 })).toEqual(every.slice(0, 10));
    expect(await seqs(inbox, { after: top - 10, before: top })).toEqual(every.slice(1, 10));
    expect(await seqs(inbox, { after: top })).toEqual([]);
  });

  it('lists each outstanding lead once, whatever the page', async () => {
    const inbox = await open(newLocation(), { targets: ['forward http://localhost:1/'] });
    await inbox.take([arrivalOf({ id: 'a' }), arrivalOf({ id: 'b' })]);
    await inbox.take([arrivalOf({ id: 'a' })]);
    const pending = await all(inbox.list({ verdicts: ['pending'] }));
    expect(pending.map(({ leadId }) => leadId)).toEqual(['a', 'b']);
    const [first] = pending;
    const rest = await all(inbox.list({ verdicts: ['pending'], before: first?.seq }));
    expect(rest.map(({ leadId }) => leadId)).toEqual(['b']);
  });

  it('shows by its mark that something was written', async () => {
    const inbox = await open(newLocation());
    const before = await inbox.changeMark();
    await inbox.take([arrivalOf({ id: 'a' })]);
    expect(await inbox.changeMark()).not.toBe(before);
  });

  it('says which deliveries it holds', async () => {
    const inbox = await open(newLocation());
    expect(await inbox.extent()).toEqual({ newestSeq: 0, oldestSeq: 0, erased: 0 });
    const { seq: one } = await takeStored(inbox, arrivalOf({ id: 'a' }));
    const { seq: two } = await takeStored(inbox, arrivalOf({ id: 'b' }));
    expect(await inbox.extent()).toEqual({ newestSeq: two, oldestSeq: one, erased: 0 });
    await inbox.erase({ leadIds: ['a'], rejected: [] });
    expect(await inbox.extent()).toEqual({ newestSeq: two, oldestSeq: two, erased: 1 });
  });

  it('marks outcomes, which differ after a result and a verdict', async () => {
    const target = 'forward http://localhost:1/';
    const inbox = await open(newLocation(), { targets: [target], leaseMs: 1000 });
    const { leadId, seq } = await takeStored(inbox, arrivalOf({ id: 'a' }));
    const mark = async () => (await inbox.outcomeMarks([seq, seq + 1])).get(seq);
    const result = { ok: false, answer: '500', durationMs: 1, at: 5, kind: 'forward' } as const;
    const pending = await mark();
    await inbox.release([{ leadId, seq, target, result }]);
    const failed = await mark();
    await inbox.settle([{ leadId, seq, target, result: { ...result, ok: true, at: 6 } }]);
    const settled = await mark();
    expect(new Set([pending, failed, settled]).size).toBe(3);
    expect(pending).toMatch(/^pending/);
    expect((await inbox.outcomeMarks([seq, seq + 1])).size).toBe(1);
  });

  it('searches ids and bodies, newest first, and leaves out what cannot match', async () => {
    const inbox = await open(newLocation());
    const lead = (id: string, body: string) => ({ leadId: id, delivery: deliveryOf(body) });
    await inbox.take([
      lead('a', '{"id":"a","n":"Jane DOE"}'),
      lead('b', '{"id":"b","n":"somebody else"}'),
      lead('c', String.raw`{"id":"c","n":"J\u0061ne doe"}`),
      lead('jane doe', '{"id":"jane doe","n":""}'),
      lead('d', '{"id":"d","n":"100%_safe"}'),
      lead('e', '{"id":"e","n":"1000 safe"}'),
    ]);
    const { ids, looked } = await searched(inbox, 'jane doe');
    expect(looked).toBe(6);
    expect(ids).toEqual(['jane doe', 'c', 'a']);
    expect((await searched(inbox, '100%_s')).ids).toEqual(['d', 'c']);
    const [newest = 0] = await seqs(inbox, {});
    expect((await searched(inbox, 'jane doe', { before: newest - 2 })).ids).not.toContain('jane doe');
    expect((await searched(inbox, 'jane doe', { verdicts: ['rejected'] })).ids).toEqual([]);
  });

  it('searches the body that several leads share, and large ones', async () => {
    const inbox = await open(newLocation());
    const parts = ['a', 'b'].map((id) => `{"id":"${id}","t":"find me"}`);
    const delivery = deliveryOf(`[${parts.join()}]`);
    const places = [
      { start: 1, end: 1 + (parts[0]?.length ?? 0) },
      { start: 2 + (parts[0]?.length ?? 0), end: delivery.body.length - 1 },
    ];
    await inbox.take(['a', 'b'].map((leadId, i) => ({ delivery, leadId, place: places[i] })));
    const large = `{"id":"c","t":"${'x'.repeat(900_000)} find me"}`;
    await inbox.take([1, 2, 3, 4, 5, 6].map((i) => ({ leadId: `l${i}`, delivery: deliveryOf(large) })));
    const found = await searched(inbox, 'find me');
    expect(found.ids).toEqual(['l6', 'l5', 'l4', 'l3', 'l2', 'l1', 'b', 'a']);
    expect(found.looked).toBe(8);
  });

  it('looks at less in one step where bodies are large', async () => {
    const inbox = await open(newLocation());
    const large = 'x'.repeat(60_000);
    for (let n = 0; n < 3; n += 1) {
      const lead = (i: number) => ({
        leadId: `${n}-${i}`,
        delivery: deliveryOf(`{"id":"${n}-${i}","t":"${large}"}`),
      });
      await inbox.take(Array.from({ length: 100 }, (_, i) => lead(i)));
    }
    const steps = (await all(inbox.search([{ field: 'any', text: 'find me' }], {}))).filter(
      ({ looked }) => looked > 0,
    );
    expect(steps.reduce((sum, { looked }) => sum + looked, 0)).toBe(300);
    expect(steps.length).toBeGreaterThan(1);
    expect(Math.max(...steps.slice(1).map(({ looked }) => looked))).toBeLessThan(140);
  });

  it('finds what a rejected body holds behind a NUL', async () => {
    const inbox = await open(newLocation());
    const wrong = rejection('not_json', 'the body is not JSON');
    await inbox.reject([{ delivery: deliveryOf('a\0find me'), leadId: undefined, rejection: wrong }]);
    const steps = await all(inbox.search([{ field: 'any', text: 'find me' }], {}));
    expect(steps.flatMap(({ candidates }) => candidates)).toHaveLength(1);
  });

  it('looks in reasons, statuses, headers and addresses, for all of the terms', async () => {
    const target = 'forward http://crm.test/hook';
    const inbox = await open(newLocation(), { targets: [target] });
    const rawHeaders: [string, string][] = [['X-Campaign', 'Autumn "sale"']];
    const a = await takeStored(inbox, {
      ...arrivalOf({ id: 'a' }),
      delivery: deliveryOf('{"id":"a"}', { rawHeaders, remote: '192.0.2.7', path: '/in/first' }),
    });
    const result = { ok: false, answer: '418 teapot', durationMs: 1, at: 1, kind: 'forward' } as const;
    await inbox.release([{ ...a, target, result }]);
    await inbox.take([arrivalOf({ id: 'b' })]);
    const stale = { ...rejection('stale_timestamp', 'ten minutes old'), status: 401 as const };
    await inbox.reject([{ delivery: deliveryOf('{"id":"c"}'), leadId: 'c', rejection: stale }]);
    const candidates = async (...terms: SearchTerm[]) =>
      (await all(inbox.search(terms, {}))).flatMap((step) => step.candidates);
    const any = (text: string): SearchTerm => ({ field: 'any', text });
    for (const text of ['campaign', 'AUTUMN', '192.0.2.7', '/in/first', 'crm.test', 'teapot']) {
      const found = await candidates(any(text));
      expect(found[0], text).toMatchObject({
        leadId: 'a',
        remote: '192.0.2.7',
        path: '/in/first',
      });
      expect(found, text).toHaveLength(1);
    }
    const whole = (await candidates(any('autumn'))).at(-1);
    expect(whole?.headers).toEqual(rawHeaders);
    expect(whole?.results).toMatchObject([{ address: 'http://crm.test/hook', answer: '418 teapot' }]);
    for (const term of [
      any('stale_timestamp'),
      any('minutes'),
      any(String(stale.status)),
      { field: 'reason', text: 'stale' },
      { field: 'status', text: String(stale.status) },
    ] as const) {
      const found = await candidates(term);
      expect(found[0]).toMatchObject({ leadId: 'c', reason: 'stale_timestamp', detail: 'ten minutes old' });
      expect(found).toHaveLength(1);
    }
    expect(await candidates({ field: 'target', text: 'crm' }, any('autumn'))).toHaveLength(1);
    expect(await candidates({ field: 'target', text: 'crm' }, any('stale'))).toEqual([]);
    expect(await candidates({ field: 'reason', text: 'campaign' })).toEqual([]);
  });

  it('searches more deliveries than one step looks at', async () => {
    const inbox = await open(newLocation());
    for (let n = 0; n < 5; n += 1) {
      await inbox.take(Array.from({ length: 1000 }, (_, i) => arrivalOf({ id: `lead-${n}-${i}` })));
    }
    const { ids, looked } = await searched(inbox, 'lead-0-7');
    expect(looked).toBe(5000);
    expect(ids).toContain('lead-0-7');
    expect(ids).toHaveLength(111);
  });
});

describe.each(sharedStores)('watching an inbox in $name that another one writes', ({ newLocation }) => {
  it('shows by its mark that something was written', async () => {
    const location = newLocation();
    const inbox = await open(location);
    const reader = await openInboxReader({ location, clock });
    try {
      const before = await reader.changeMark();
      await inbox.take([arrivalOf({ id: 'a' })]);
      expect(await reader.changeMark()).not.toBe(before);
      expect((await reader.extent()).newestSeq).toBe((await inbox.extent()).newestSeq);
    } finally {
      await reader.close();
    }
  });
});
