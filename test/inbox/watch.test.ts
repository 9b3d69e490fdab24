import { describe, expect, it } from 'vitest';
import type { InboxReader } from '../../src/inbox/inbox.ts';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { clock, open, sharedStores, stores } from './stores.ts';
import { all, arrivalOf } from './support.ts';

const seqs = async (inbox: Pick<InboxReader, 'list'>, query: Parameters<InboxReader['list']>[0]) =>
  (await all(inbox.list(query))).map(({ seq }) => seq);

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

  it('lists each lead that waits once, whatever the page', async () => {
    const inbox = await open(newLocation(), { targets: ['forward http://localhost:1/'] });
    await inbox.take([arrivalOf({ id: 'a' }), arrivalOf({ id: 'b' })]);
    await inbox.take([arrivalOf({ id: 'a' })]);
    const waiting = await all(inbox.list({ verdicts: ['waiting'] }));
    expect(waiting.map(({ leadId }) => leadId)).toEqual(['b', 'a']);
    const [first] = waiting;
    const rest = await all(inbox.list({ verdicts: ['waiting'], before: first?.seq }));
    expect(rest.map(({ leadId }) => leadId)).toEqual(['a']);
  });

  it('shows by its mark that something was written', async () => {
    const inbox = await open(newLocation());
    const before = await inbox.changeMark();
    await inbox.take([arrivalOf({ id: 'a' })]);
    expect(await inbox.changeMark()).not.toBe(before);
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
    } finally {
      await reader.close();
    }
  });
});
