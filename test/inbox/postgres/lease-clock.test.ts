import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { newInboxUrl } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { locationOf } from './location.ts';

const address = await sharedPostgres();

it.skipIf(address === undefined)(
  'a receiver whose clock is ahead does not take over the leases of another one',
  async () => {
    if (address === undefined) throw new Error('no database');
    const location = locationOf(newInboxUrl(address));
    const options = { targets: ['t'], leaseMs: 60_000 };
    const start = Date.UTC(2026, 0, 15);
    const here = await open(location, { ...options, clock: new FakeClock(start) });
    const ahead = new FakeClock(start + 90_000);
    const there = await open(location, { ...options, clock: ahead });
    const arrival = arrivalOf({ id: 'a' });
    await takeOne(here, arrival);
    expect(await takeOne(there, arrival)).toMatchObject({ kind: 'pending', busy: true });
    ahead.advance(90_000);
    expect(await takeOne(there, arrival)).toMatchObject({
      kind: 'pending',
      busy: false,
      targets: [{ name: 't' }],
    });
  },
);
