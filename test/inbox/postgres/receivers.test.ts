import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { clock, open } from '../stores.ts';
import { inboxIn } from './database.ts';

const address = await sharedPostgres();

describe.skipIf(address === undefined)('a receiver that gets no delivery', () => {
  it('is known to run all the same, also where others took it for dead', async () => {
    if (address === undefined) throw new Error('no database');
    const database = inboxIn(address);
    await open(database.location(), { targets: ['t', 'u'] });
    const seen = async () =>
      (await database.query('SELECT seen FROM S.receivers')).map((row) => Number(row['seen']));
    expect(await seen()).toEqual([clock.now(), clock.now()]);
    await database.query('DELETE FROM S.receivers');
    const anHourLater = (): Promise<number[]> => {
      clock.advance(3_600_000);
      return seen();
    };
    await expect.poll(anHourLater).toHaveLength(2);
  });

  it.each([
    { pid: process.ppid, host: hostname(), hours: 8 * 24, isKept: true },
    { pid: 2 ** 22 + 1, host: hostname(), hours: 2, isKept: false },
    { pid: 1, host: 'elsewhere.example', hours: 4, isKept: true },
    { pid: 1, host: 'elsewhere.example', hours: 8 * 24, isKept: false },
  ])(
    'counts as running, as process $pid of $host, $hours h after its last word: $isKept',
    async ({ pid, host, hours, isKept }) => {
      if (address === undefined) throw new Error('no database');
      const database = inboxIn(address);
      await open(database.location());
      const owner = JSON.stringify({ pid, host, started: 1, token: 'its' });
      await database.query(
        `INSERT INTO S.receivers VALUES (convert_to('${owner}', 'UTF8'), 't', ${clock.now() - hours * 3_600_000})`,
      );
      await open(database.location(), { pid: process.pid });
      expect(await database.query('SELECT FROM S.receivers')).toHaveLength(isKept ? 1 : 0);
    },
  );
});
