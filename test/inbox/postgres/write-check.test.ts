import { expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/inbox.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { inboxIn } from './database.ts';

const address = await sharedPostgres();

it.skipIf(address === undefined)(
  'an inbox is writable once as much as a delivery may have fits on a disk that was full',
  async () => {
    if (address === undefined) throw new Error('no database');
    const database = inboxIn(address);
    const inbox = await open(database.location());
    const written = async () =>
      (await database.query('SELECT number::int, octet_length(filler) AS filler FROM S.write_checks'))[0];
    await inbox.checkWritable();
    expect(await written()).toEqual({ number: 1, filler: null });
    await database.query(`CREATE FUNCTION S.fail() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''no space'' USING ERRCODE = ''53100''; END';
      CREATE TRIGGER full_disk BEFORE INSERT ON S.deliveries FOR EACH STATEMENT EXECUTE FUNCTION S.fail()`);
    await expect(takeOne(inbox, arrivalOf({ id: 'a' }))).rejects.toThrow(CannotStoreError);
    await inbox.checkWritable();
    expect(await written()).toEqual({ number: 2, filler: 1.5 * 1024 * 1024 });
    await inbox.checkWritable();
    expect(await written()).toEqual({ number: 3, filler: null });
    await database.query('ALTER TABLE S.write_checks RENAME COLUMN number TO other');
    await expect(inbox.checkWritable()).rejects.toThrow(CannotStoreError);
  },
);
