import { describe, expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/inbox.ts';
import { copiesIn } from '../../../src/inbox/postgres/acknowledgement-copies.ts';
import { describeWarning } from '../../../src/messages/command-line.ts';
import { FakeClock } from '../../support/clock.ts';
import { superuser, urlOf } from '../../support/postgres/address.ts';
import { withCluster } from '../../support/postgres/with-cluster.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { inboxIn } from './database.ts';
import { locationOf } from './location.ts';

describe('synchronous_standby_names', () => {
  it.each([
    ['', 1],
    ['  ', 1],
    ['*', 2],
    ['a, b', 2],
    ['"2 (b"', 2],
    ['2 (a, b, c)', 3],
    ['FIRST 1 (a, b)', 2],
    ['any 2(a, b, c)', 3],
    ['first, any', 2],
  ])('%j is %d copies', (names, copies) => {
    expect(copiesIn({ standby_names: names })).toBe(copies);
  });
});

await withCluster({}, (cluster) => {
  const { address } = cluster;
  const setNames = async (names: string): Promise<void> => {
    const client = superuser(address, 'postgres');
    await client.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await client.unsafe('SELECT pg_reload_conf()');
    await expect
      .poll(async (): Promise<unknown> => (await client.unsafe('SHOW synchronous_standby_names'))[0])
      .toEqual({ synchronous_standby_names: names });
    await client.end();
  };
  const locationWith = (name: string, parameters: Record<string, string>, host = '127.0.0.1') =>
    locationOf(urlOf(address, { host, parameters: { schema: name, ...parameters } }));

  it('are warned of where there is one, and another host, and are asked for again each minute', async () => {
    const clock = new FakeClock();
    const { name } = inboxIn(address);
    const warnings: string[] = [];
    const warn: NonNullable<Parameters<typeof open>[1]>['warn'] = (found) =>
      void warnings.push(describeWarning(found));
    await open(locationWith(name, {}), { warn });
    expect(warnings).toEqual([]);
    const inbox = await open(locationWith(name, {}, '127.0.0.1,127.0.0.1'), { clock, warn });
    expect(warnings).toEqual([expect.stringContaining('is on one server only')]);
    expect(inbox.copies?.()).toBe(1);
    await setNames('ANY 1 (s)');
    clock.advance(60_000);
    await expect.poll(() => inbox.copies?.()).toBe(2);
    await setNames('');
    await expect.poll(() => clock.sleeps.filter((ms) => ms === 60_000)).toHaveLength(2);
    clock.advance(60_000);
    await expect.poll(() => warnings).toHaveLength(2);
    expect(inbox.copies?.()).toBe(1);
  });

  it('are asked for again after a time in which nobody was let in', async () => {
    const clock = new FakeClock();
    const { client, location } = inboxIn(address);
    const inbox = await open(location(), { clock });
    const asked = () => clock.sleeps.filter((ms) => ms === 60_000);
    await expect.poll(asked).toHaveLength(1);
    await client.unsafe(`ALTER ROLE leads NOLOGIN;
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'leads'`);
    clock.advance(60_000);
    await expect.poll(asked).toHaveLength(2);
    await client.unsafe('ALTER ROLE leads LOGIN');
    expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  });

  it('that the URL asks for and are not there refuse every write', async () => {
    const { name } = inboxIn(address);
    const warnings: string[] = [];
    const inbox = await open(locationWith(name, { copies: '2' }), {
      targets: ['t'],
      warn: (found) => void warnings.push(describeWarning(found)),
    });
    expect(warnings).toEqual([expect.stringContaining('the URL asks for copies=2')]);
    for (const write of [
      () => takeOne(inbox, arrivalOf({ id: 'a' })),
      () => inbox.checkWritable(),
      () => inbox.erase({ leadIds: ['a'], rejected: [] }),
      () => inbox.settle([{ leadId: 'a', target: 't', seq: 1 }]),
      () => inbox.beginAnew(['a']),
      () => inbox.prune(0),
    ]) {
      await expect(write()).rejects.toThrow(CannotStoreError);
    }
    expect(inbox.pool?.()).toMatchObject({ busy: 0 });
    expect(await inbox.states(['a'])).toEqual(new Map());
  });

  it('that never come keep no connection of the server', async () => {
    const { name, client } = inboxIn(address);
    const waiting = () => client`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    try {
      const inbox = await open(locationWith(name, {}));
      await setNames('s');
      const taken = takeOne(inbox, arrivalOf({ id: 'a' })).catch((error: unknown) => error);
      await expect.poll(waiting).not.toHaveLength(0);
      expect(await taken).toBeInstanceOf(CannotStoreError);
      await expect.poll(waiting, { timeout: 2000 }).toHaveLength(0);
    } finally {
      await setNames('');
    }
  });

  it('are not there when nobody requires them any more while one is waited for', async () => {
    const { name, client } = inboxIn(address);
    try {
      const inbox = await open(locationWith(name, { copies: '2' }));
      await setNames('s');
      const taken = takeOne(inbox, arrivalOf({ id: 'a' })).catch((error: unknown) => error);
      await expect
        .poll(() => client`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
        .not.toHaveLength(0);
      await setNames('');
      expect(await taken).toBeInstanceOf(CannotStoreError);
      const other = await open(locationWith(name, {}));
      expect(await takeOne(other, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted', attempt: 2 });
    } finally {
      await setNames('');
    }
  });

  it('are not there when somebody cancels the wait for one, and the lead is accepted with its next delivery', async () => {
    const { name, client } = inboxIn(address);
    try {
      const inbox = await open(locationWith(name, {}));
      await setNames('s');
      const taken = takeOne(inbox, arrivalOf({ id: 'a' })).catch((error: unknown) => error);
      await expect
        .poll(() => client`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
        .not.toHaveLength(0);
      expect(await taken).toBeInstanceOf(CannotStoreError);
      await setNames('');
      expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted', attempt: 2 });
      expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'duplicate' });
    } finally {
      await setNames('');
    }
  });
});
