import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { newInboxUrl } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { open, takeOne, takeStored } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { inboxIn } from './database.ts';
import { DatabaseClock } from './database-clock.ts';
import { locationOf } from './location.ts';

const address = await sharedPostgres();
const start = Date.UTC(2026, 0, 15);
const hour = 3_600_000;
const busy = { kind: 'pending', busy: true };
const free = { kind: 'pending', busy: false, targets: [{ name: 't' }] };

describe.skipIf(address === undefined)('a lease', () => {
  it("ends by the database's clock, whatever becomes of those of receivers", async () => {
    if (address === undefined) throw new Error('no database');
    const shared = await DatabaseClock.create(address);
    const location = locationOf(newInboxUrl(address, { parameters: shared.parameters }));
    const options = { targets: ['t'], leaseMs: 60_000 };
    const here = await open(location, { ...options, clock: new FakeClock(start) });
    const stepped = new FakeClock(start + 90_000);
    const there = await open(location, { ...options, clock: stepped });
    const arrival = arrivalOf({ id: 'a' });
    const lease = { ...(await takeStored(here, arrival)), target: 't' };
    expect(await takeOne(there, arrival)).toMatchObject(busy);
    stepped.advance(hour);
    expect(await takeOne(there, arrival)).toMatchObject(busy);
    shared.advance(60_000);
    expect(await takeOne(there, arrival)).toMatchObject(free);
    expect(await takeOne(here, arrival)).toMatchObject(busy);
    stepped.set(-2 * hour);
    await there.release([{ ...lease, retryAt: stepped.now() + 1000 }]);
    expect(await there.nextDueAt('t')).toBe(stepped.now() + 1000);
    shared.advance(1000);
    expect(await there.due('t', stepped.now(), 9)).toMatchObject([{ leadId: 'a', dueAt: stepped.now() }]);
  });

  it('of another clock, before a failover, is over', async () => {
    if (address === undefined) throw new Error('no database');
    const database = inboxIn(address);
    const options = { targets: ['t'], leaseMs: 60_000 };
    const here = await open(database.location(), options);
    const there = await open(database.location(), options);
    const arrival = arrivalOf({ id: 'a' });
    const lease = { ...(await takeStored(here, arrival)), target: 't' };
    expect(await there.lease([lease])).toMatchObject([{ state: 'busy' }]);
    await database.query(`UPDATE S.outstanding SET lease = lease + ${hour}`);
    expect(await takeOne(there, arrival)).toMatchObject(free);
    await database.query(`UPDATE S.outstanding SET lease = lease + ${hour}`);
    expect(await here.lease([lease])).toMatchObject([{ state: 'leased' }]);
    expect(await there.lease([lease])).toMatchObject([{ state: 'busy' }]);
  });
});
