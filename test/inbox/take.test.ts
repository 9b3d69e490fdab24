import { describe, expect, it } from 'vitest';
import { open, sharedStores, stores, takeOne } from './stores.ts';
import { all, arrivalOf, deliveryOf } from './support.ts';

describe.each(stores)('an inbox in $name', ({ newLocation }) => {
  it('gives each of the batches that arrive together its own verdicts', async () => {
    const inbox = await open(newLocation());
    const batches = [['a', 'b'], [], ['b'], ['c', 'a']].map((ids) => ids.map((id) => arrivalOf({ id })));
    const results = await Promise.all(batches.map((batch) => inbox.take(batch)));
    expect(results.map((batch) => batch.map(({ kind }) => kind))).toEqual([
      ['accepted', 'accepted'],
      [],
      ['duplicate'],
      ['accepted', 'duplicate'],
    ]);
  });

  it('keeps ids apart that a database would confuse', async () => {
    const inbox = await open(newLocation());
    const surrogates = ['\ud800', '\ud801', '\ufffd'];
    const composed = ['é', 'e\u0301'];
    const odd = ['json:"x"', '"quoted, \\"', '', '1', '01', '9007199254740993'];
    const ids = ['x', 'x\0y', 'x\0z', ...surrogates, ...odd, ...composed];
    const results = await inbox.take(ids.map((id) => arrivalOf({ id })));
    expect(results.map(({ kind }) => kind)).toEqual(ids.map(() => 'accepted'));
    expect((await all(inbox.leads({}))).map(({ leadId }) => leadId)).toEqual(ids);
    expect([...(await inbox.has([...ids, 'y']))]).toEqual(ids);
  });

  it('keeps a repeated id with another payload and names the fields that differ', async () => {
    const inbox = await open(newLocation());
    const lead = { id: 'a', contact: { name: 'N', email: 'e' }, tags: [1, 2] };
    await takeOne(inbox, arrivalOf(lead));
    const changed = { id: 'a', contact: { name: 'M', email: 'e', phone: '1' }, tags: [1, 3] };
    const differs = ['contact.name', 'contact.phone', 'tags.1'];
    expect(await takeOne(inbox, arrivalOf(changed))).toMatchObject({ kind: 'duplicate', differs });
    const spaced = deliveryOf(JSON.stringify(lead, undefined, 2));
    expect(await takeOne(inbox, { delivery: spaced, leadId: 'a' })).toMatchObject({ differs: undefined });
    const stored = await all(inbox.list({ leadId: 'a' }));
    expect(stored.map((delivery) => delivery.differs)).toEqual([undefined, differs, undefined]);
    expect(Buffer.from(stored[1]?.body ?? []).toString()).toBe(JSON.stringify(changed));
  });

  it('stores raw bytes, headers without credentials, and the verdict', async () => {
    const redact = {
      path: () => '/p',
      headers: () => [['X-Webhook-Token', '…']] as const,
    };
    const inbox = await open(newLocation(), { redact });
    const body = Uint8Array.from([0x7b, 0x22, 0x69, 0x64, 0x22, 0x3a, 0x22, 0x1b, 0xff, 0x22, 0x7d]);
    const delivery = deliveryOf(body, { rawHeaders: [['X-Webhook-Token', 'secret']] });
    await takeOne(inbox, { leadId: 'a', delivery, source: 'backfill' });
    const [stored] = await all(inbox.list({}));
    expect(stored).toMatchObject({ verdict: 'accepted', status: 200, attempt: 1 });
    expect(stored).toMatchObject({ path: '/p', source: 'backfill', remote: '127.0.0.1', method: 'POST' });
    expect(stored?.headers).toEqual([['X-Webhook-Token', '…']]);
    expect(new Uint8Array(stored?.body ?? [])).toEqual(body);
  });

  it('keeps bodies and headers of every size and script, whatever their buffers are used for next', async () => {
    const inbox = await open(newLocation());
    const bodies = [0, 1, 700_000, 700_000, 3_000_000].map((size) => new Uint8Array(size).fill(size % 251));
    const rawHeaders = [['X-Name', 'Zoë \u{1f600}']] as const;
    await inbox.take(
      bodies.map((body, i) => ({ leadId: `l${i}`, delivery: deliveryOf(body, { rawHeaders }) })),
    );
    bodies.forEach((body) => body.fill(7));
    const stored = (await all(inbox.list({}))).reverse();
    const isWhole = (body: Uint8Array): boolean => body.every((byte) => byte === body.length % 251);
    expect(stored.map(({ body }) => [body.length, isWhole(body)])).toEqual(
      bodies.map(({ length }) => [length, true]),
    );
    expect(stored.map(({ headers }) => headers)).toEqual(bodies.map(() => rawHeaders));
  });
});

describe.each(sharedStores)('an inbox in $name that several receivers have open', ({ newLocation }) => {
  it('accepts an id once among all of them, also when it comes at the same moment', async () => {
    const location = newLocation();
    const inboxes = [await open(location), await open(location)];
    const kinds = new Map<string, number>();
    for (let i = 0; i < 30; i += 1) {
      const arrival = arrivalOf({ id: `a\0${i}\ud800` });
      const both = await Promise.all(inboxes.map((inbox) => takeOne(inbox, arrival)));
      const found = both
        .map(({ kind }) => kind)
        .toSorted()
        .join(' and ');
      kinds.set(found, (kinds.get(found) ?? 0) + 1);
    }
    expect([...kinds]).toEqual([['accepted and duplicate', 30]]);
  });
});
