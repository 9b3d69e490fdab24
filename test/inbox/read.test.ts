import { describe, expect, it } from 'vitest';
import { leadBytes } from '../../src/lead/raw-lead.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { open, stores } from './stores.ts';
import { all, arrivalOf, deliveryOf } from './support.ts';

const receivedAt = (times: readonly number[]) =>
  times.map((time) => ({
    leadId: `l${time}`,
    delivery: deliveryOf(`{"id":"l${time}"}`, { receivedAt: time }),
  }));

describe.each(stores)('reading an inbox in $name', ({ newLocation }) => {
  it('filters by time, half-open, and gives leads oldest first', async () => {
    const inbox = await open(newLocation());
    await inbox.take(receivedAt(Array.from({ length: 450 }, (_, i) => i)));
    expect(await all(inbox.list({ since: 10, until: 300 }))).toHaveLength(290);
    const leads = await all(inbox.leads({ since: 10, until: 300 }));
    expect(leads.map((lead) => lead.receivedAt)).toEqual(Array.from({ length: 290 }, (_, i) => i + 10));
    expect(Buffer.from(leads[0]?.body ?? []).toString()).toBe('{"id":"l10"}');
  });

  it('gives of each delivery what is counted, newest first, over more than one page', async () => {
    const inbox = await open(newLocation());
    const several = deliveryOf('{"a":[{"id":"s1"},{"id":"s2, \\"x\\""}]}', { receivedAt: 500 });
    await inbox.take(receivedAt(Array.from({ length: 450 }, (_, i) => i)));
    await inbox.take([
      { leadId: 's1', delivery: several, place: { start: 6, end: 17 } },
      { leadId: 's2, "x"', delivery: several, place: { start: 18, end: 37 } },
      ...receivedAt([7, 8]),
      {
        leadId: 'fetched',
        source: 'backfill',
        delivery: deliveryOf('{"id":"fetched"}', { receivedAt: 501 }),
      },
    ]);
    await inbox.reject(
      ['{"no', '\u0000\u0001', ''].map((body) => ({
        delivery: deliveryOf(body, { receivedAt: 502 }),
        rejection: rejection('wrong_credential', 'not the token'),
      })),
    );
    for (const withRepeats of [true, false]) {
      const listed = await all(inbox.list({ since: 3, until: 502.5 }));
      expect(listed).toHaveLength(455);
      const expected = listed.map(({ receivedAt, leadId, verdict, reason, attempt, source, body, place }) => {
        const isAsked = withRepeats || (attempt === 1 && reason === undefined);
        const lead = isAsked ? Buffer.from(leadBytes(body, place)).toString() : undefined;
        return { receivedAt, leadId, verdict, reason, attempt, source, lead };
      });
      const found = await all(inbox.receipts({ since: 3, until: 502.5, withRepeats }));
      const text = (lead: Uint8Array | undefined) => lead && Buffer.from(lead).toString();
      expect(found.flat().map((receipt) => ({ ...receipt, lead: text(receipt.lead) }))).toMatchObject(
        expected,
      );
      expect(found.flat()).toHaveLength(expected.length);
    }
    expect(await all(inbox.receipts({ since: 600, until: undefined, withRepeats: true }))).toEqual([]);
  });

  it('filters by id, number and verdict', async () => {
    const inbox = await open(newLocation());
    await inbox.take(['a', 'b', 'a', 'c'].map((id) => arrivalOf({ id })));
    const numbers = async (query: Parameters<typeof inbox.list>[0]) =>
      (await all(inbox.list(query))).map(({ leadId, attempt }) => `${leadId ?? ''}${attempt}`);
    const [newest] = await all(inbox.list({}));
    expect(await numbers({ leadId: 'a' })).toEqual(['a2', 'a1']);
    expect(await numbers({ seq: newest?.seq })).toEqual(['c1']);
    expect(await numbers({ verdicts: ['duplicate', 'rejected'] })).toEqual(['a2']);
    expect(await numbers({ leadId: 'a', verdicts: ['accepted'] })).toEqual(['a1']);
    expect(await numbers({ leadId: 'nobody' })).toEqual([]);
  });
});
