import { expect, it, onTestFinished } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { describeWithPostgres, inboxIn } from './database.ts';

describeWithPostgres('an erasure that is made again', (address) => {
  it('removes the dead rows that one left whose answer was lost', async () => {
    const proxy = await TcpProxy.start(address);
    onTestFinished(() => proxy.stop());
    const database = inboxIn(address);
    const cut = await open(database.location({ port: proxy.port }));
    await takeOne(cut, arrivalOf({ id: 'a' }));
    const lost = proxy.loseNextCommit('.erased VALUES');
    await expect(cut.erase({ leadIds: ['a'], rejected: [] })).rejects.toThrow(CannotStoreError);
    await lost;
    expect(await database.query('SELECT FROM S.deliveries')).toHaveLength(0);
    const vacuumed = async (): Promise<readonly string[]> => {
      const rows = await database.query(
        `SELECT relname FROM pg_stat_all_tables WHERE relid = 'S.deliveries'::regclass AND vacuum_count > 0`,
      );
      return rows.map(({ relname }) => String(relname));
    };
    expect(await vacuumed()).toEqual([]);
    expect(await cut.erase({ leadIds: ['a'], rejected: [] })).toMatchObject({ leads: 0, deliveries: 0 });
    await expect.poll(vacuumed).toEqual(['deliveries']);
  });

  it('leaves the tables alone where nothing was ever erased', async () => {
    const database = inboxIn(address);
    const inbox = await open(database.location());
    await inbox.erase({ leadIds: ['a'], rejected: [] });
    expect(
      await database.query(
        `SELECT FROM pg_stat_all_tables WHERE schemaname = '${database.name}' AND vacuum_count > 0`,
      ),
    ).toHaveLength(0);
  });
});
