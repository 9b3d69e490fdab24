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
    { host: hostname(), hours: 2, isKept: true },
    { host: hostname(), hours: 4, isKept: false },
    { host: 'elsewhere.example', hours: 4, isKept: true },
    { host: 'elsewhere.example', hours: 8 * 24, isKept: false },
  ])(
    'counts as running, in a container of $host, $hours h after its last word: $isKept',
    async ({ host, hours, isKept }) => {
      if (address === undefined) throw new Error('no database');
      const database = inboxIn(address);
      await open(database.location());
      const owner = JSON.stringify({ pid: 1, host, started: null, token: 'its', pidNamespace: 'pid:[1]' });
      await database.query(
        `INSERT INTO S.receivers VALUES (convert_to('${owner}', 'UTF8'), 't', ${clock.now() - hours * 3_600_000})`,
      );
      await open(database.location());
      expect(await database.query('SELECT FROM S.receivers')).toHaveLength(isKept ? 1 : 0);
    },
  );
});
