import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../src/inbox/inbox.ts';
import { leadBytes } from '../../src/lead/raw-lead.ts';
import { open, stores, takeOne } from './stores.ts';
import { all, arrivalOf, arrivalsTogether, deliveryOf } from './support.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

/** The arrivals of one delivery whose body holds these leads as they are written here, each with its id. */
function delivered(
  leads: readonly (readonly [id: string, json: string])[],
  more: Partial<Arrival> = {},
): Arrival[] {
  const texts = leads.map(([, json]) => json);
  const rawHeaders = [['X-Of', leads.map(([id]) => id).join()]] as const;
  const around = { head: '{ "type": "leads", "é": [ ', separator: ' ,\n', tail: ' ] }' };
  return arrivalsTogether(texts, { ...around, rawHeaders }).map((arrival) => ({ ...arrival, ...more }));
}

const a = ['a', '{"id":"a", "n":1.0}'] as const;
const b = ['b', '{"id":"b","ü":"ü"}'] as const;
const c = ['c', '{"id":"c"}'] as const;

describe.each(stores)('a delivery of several leads in $name', ({ newLocation }) => {
  it('gets a verdict for each, and keeps the whole body and where each lead is', async () => {
    const inbox = await open(newLocation());
    const arrivals = delivered([a, b]);
    expect(await inbox.take([...arrivals, arrivalOf({ id: 'c' })])).toMatchObject([
      { kind: 'accepted', leadId: 'a', attempt: 1 },
      { kind: 'accepted', leadId: 'b', attempt: 1 },
      { kind: 'accepted', leadId: 'c' },
    ]);
    expect((await all(inbox.leads({}))).map(({ body }) => text(body))).toEqual([a[1], b[1], '{"id":"c"}']);
    const [bare, second, first] = await all(inbox.list({}));
    for (const [stored, json] of [
      [first, a[1]],
      [second, b[1]],
    ] as const) {
      expect(text(stored?.body ?? new Uint8Array())).toBe(
        text(arrivals[0]?.delivery.body ?? new Uint8Array()),
      );
      expect(text(leadBytes(stored?.body ?? new Uint8Array(), stored?.place))).toBe(json);
      expect(stored?.headers).toEqual([['X-Of', 'a,b']]);
      expect(stored?.firstSeq).toBe(first?.seq);
    }
    expect([bare?.place, bare?.firstSeq]).toEqual([undefined, undefined]);
  });

  it('is found by the number of its first lead', async () => {
    const inbox = await open(newLocation());
    await inbox.take([...delivered([a]), ...delivered([b, c]), ...delivered([a, b])]);
    const [, first] = await all(inbox.list({ leadId: 'b' }));
    const found = await all(inbox.list({ firstSeq: first?.firstSeq }));
    expect(found.map(({ leadId }) => leadId)).toEqual(['c', 'b']);
  });

  it('is kept apart from the next one in a batch', async () => {
    const inbox = await open(newLocation());
    const batch = [delivered([a]), delivered([b, c]), delivered([a, b])];
    await inbox.take(batch.flat());
    const stored = (await all(inbox.list({}))).reverse();
    expect(stored.map(({ body }) => text(body))).toEqual(
      batch.flat().map(({ delivery }) => text(delivery.body)),
    );
    expect(stored.map(({ headers }) => headers[0]?.[1])).toEqual(['a', 'b,c', 'b,c', 'a,b', 'a,b']);
    expect((await all(inbox.leads({}))).map(({ body }) => text(body))).toEqual([a[1], b[1], c[1]]);
  });

  it('is the same lead whether it came alone, in an envelope, or among others', async () => {
    const inbox = await open(newLocation());
    await takeOne(inbox, { leadId: 'a', delivery: deliveryOf(a[1]) });
    await inbox.take(delivered([b]));
    const repeated = await inbox.take(delivered([b, a, c]));
    expect(repeated).toMatchObject([
      { kind: 'duplicate', attempt: 2, differs: undefined },
      { kind: 'duplicate', attempt: 2, differs: undefined },
      { kind: 'accepted' },
    ]);
    const changed = await inbox.take(
      delivered([
        ['c', '{"id":"c","x":1}'],
        ['a', '{"id":"a","n":2}'],
      ]),
    );
    expect(changed).toMatchObject([{ differs: ['x'] }, { kind: 'duplicate', attempt: 3, differs: ['n'] }]);
  });

  it('is bound by one nonce, and as a replay kept once', async () => {
    const inbox = await open(newLocation(), { nonceLifetimeMs: 1000 });
    const take = async (leads: Parameters<typeof delivered>[0]) =>
      (await inbox.take(delivered(leads, { nonce: 'n' }))).map(({ kind }) => kind);
    expect(await take([a, b])).toEqual(['accepted', 'accepted']);
    expect(await take([a, b])).toEqual(['duplicate', 'duplicate']);
    expect(await take([a, c])).toEqual(['rejected', 'rejected']);
    const rejected = await all(inbox.list({ verdicts: ['rejected'] }));
    expect(rejected).toMatchObject([{ reason: 'replayed_nonce', firstSeq: undefined }]);
    expect(text(rejected[0]?.body ?? new Uint8Array())).toContain('"leads"');
  });

  it('stays readable when its older repeats are dropped', async () => {
    const inbox = await open(newLocation());
    const many = Array.from({ length: 150 }, () => a);
    await inbox.take(delivered(many));
    await inbox.take(delivered(many));
    const kept = await all(inbox.list({ leadId: 'a' }));
    expect(kept).toHaveLength(101);
    expect(new Set(kept.map(({ body, place }) => text(leadBytes(body, place))))).toEqual(new Set([a[1]]));
  });

  it('costs its body once, however many leads it has', async () => {
    const inbox = await open(newLocation());
    const pad = 'x'.repeat(900);
    const leads = Array.from(
      { length: 1000 },
      (_, i) => [`l${i}`, `{"id":"l${i}","n":1,"pad":"${pad}"}`] as const,
    );
    const changed = leads.map(([id, json]) => [id, json.replace('"n":1', '"n":2')] as const);
    const started = performance.now();
    await inbox.take(delivered(leads));
    expect(new Set((await inbox.take(delivered(changed))).map(({ kind }) => kind))).toEqual(
      new Set(['duplicate']),
    );
    expect(await all(inbox.leads({}))).toHaveLength(1000);
    const bodies = new Set((await all(inbox.list({}))).map(({ body }) => body.buffer));
    expect(bodies.size).toBeLessThan(20);
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
