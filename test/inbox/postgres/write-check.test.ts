import { afterAll, expect, it } from 'vitest';
import { newSchema, superuser, urlOf } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { open, takeStored } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { locationOf } from './location.ts';

const address = await sharedPostgres();

it.skipIf(address === undefined)(
  'an inbox is not writable without what a delivery needs, and a check of it leaves nothing',
  async () => {
    if (address === undefined) throw new Error('no database');
    const schema = newSchema();
    const sql = superuser(address);
    afterAll(() => sql.end());
    const url = urlOf(address, { parameters: { schema } });
    const inbox = await open(locationOf(url), { targets: ['t'], clock: systemClock });
    await takeStored(inbox, arrivalOf({ id: 'a' }));
    const counts = async () => {
      const [row] = await sql.unsafe(`SELECT (SELECT count(*) FROM "${schema}".ids) AS ids,
        (SELECT count(*) FROM "${schema}".deliveries) AS deliveries, (SELECT count(*) FROM "${schema}".nonces) AS nonces,
        (SELECT count(*) FROM "${schema}".outstanding) AS outstanding,
        (SELECT last_value FROM "${schema}".delivery_numbers) AS number`);
      return row;
    };
    const before = await counts();
    for (let n = 0; n < 3; n += 1) await inbox.checkWritable();
    expect(await counts()).toEqual(before);
    await sql.unsafe(`REVOKE USAGE, UPDATE ON SEQUENCE "${schema}".delivery_numbers FROM leads`);
    await expect(inbox.checkWritable()).rejects.toThrow();
    await sql.unsafe(`GRANT USAGE, UPDATE ON SEQUENCE "${schema}".delivery_numbers TO leads`);
    await inbox.checkWritable();
    for (const table of ['outstanding', 'nonces']) {
      await sql.unsafe(`REVOKE DELETE ON "${schema}".${table} FROM leads`);
      await expect(inbox.checkWritable()).rejects.toThrow();
      await sql.unsafe(`GRANT DELETE ON "${schema}".${table} TO leads`);
      await inbox.checkWritable();
    }
    for (const [table, column, type] of [
      ['deliveries', 'differs', 'bytea'],
      ['contents', 'headers', "bytea NOT NULL DEFAULT ''"],
      ['nonces', 'expires', 'int8 NOT NULL DEFAULT 0'],
      ['outstanding', 'due_at', 'int8'],
      ['outstanding', 'dead', 'boolean NOT NULL DEFAULT false'],
      ['deliveries', 'results', 'bytea'],
    ] as const) {
      await sql.unsafe(`ALTER TABLE "${schema}"."${table}" DROP COLUMN ${column} CASCADE`);
      await expect(inbox.checkWritable()).rejects.toThrow();
      await sql.unsafe(`ALTER TABLE "${schema}"."${table}" ADD COLUMN ${column} ${type}`);
      await inbox.checkWritable();
    }
  },
);
