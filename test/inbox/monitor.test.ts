import { describe, expect, it } from 'vitest';
import type { Inbox, StoredRef } from '../../src/inbox/inbox.ts';
import { clock, open, sharedStores, stores, takeAllStored, takeStored } from './stores.ts';
import { all, arrivalOf, deliveryOf, doneAt } from './support.ts';

const forward = 'forward http://user:password@app.test:3000/hook?key=k';
const label = 'forward http://app.test:3000';

/** Takes leads, of which the one of index i came at i + 1 milliseconds. */
function takeMany(inbox: Inbox, count: number): Promise<StoredRef[]> {
  const arrivals = Array.from({ length: count }, (_, i) => {
    const lead = { id: `lead-${i}` };
    return arrivalOf(lead, { delivery: deliveryOf(JSON.stringify(lead), { receivedAt: i + 1 }) });
  });
  return takeAllStored(inbox, arrivals);
}

describe.each(stores)('the backlog of $name', ({ newLocation }) => {
  it('is whole when there are thousands', async () => {
    const inbox = await open(newLocation(), { targets: [forward] });
    const taken = await takeMany(inbox, 2500);
    await inbox.record(taken.slice(0, 300).map((one) => doneAt(one, forward)));
    expect(await inbox.targetCounts()).toEqual([
      { target: label, waiting: 2200, dead: 0, oldestAt: 301, isOwn: true },
    ]);
  });
});

describe.each(stores)('whether $name can be written', ({ newLocation }) => {
  it('is found out without storing anything', async () => {
    const inbox = await open(newLocation());
    await inbox.checkWritable();
    expect(await all(inbox.list({}))).toEqual([]);
    expect(await takeStored(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ seq: 1 });
  });
});

describe.each(sharedStores)('the backlog of $name, between receivers', ({ newLocation }) => {
  it('holds what a receiver with other targets left behind', async () => {
    const location = newLocation();
    const before = await open(location, { targets: [forward, 'exec mail you'] });
    await takeMany(before, 2);
    await before.close();
    clock.advance(10);
    const now = await open(location, { targets: ['exec mail'] });
    expect(await now.targetCounts()).toEqual([
      { target: 'exec', waiting: 2, dead: 0, oldestAt: 1, isOwn: false },
      { target: label, waiting: 2, dead: 0, oldestAt: 1, isOwn: false },
    ]);
  });

  it('keeps that apart from what waits for its own targets, though they are called the same', async () => {
    const location = newLocation();
    const before = await open(location, { targets: ['forward http://app.test:3000/old'] });
    await takeMany(before, 2);
    await before.close();
    clock.advance(10);
    const now = await open(location, { targets: [forward] });
    await takeStored(
      now,
      arrivalOf({ id: 'new' }, { delivery: deliveryOf('{"id":"new"}', { receivedAt: 50 }) }),
    );
    expect(await now.targetCounts()).toEqual([
      { target: label, waiting: 1, dead: 0, oldestAt: 50, isOwn: true },
      { target: label, waiting: 2, dead: 0, oldestAt: 1, isOwn: false },
    ]);
  });
});
