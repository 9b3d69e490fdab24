import { describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { locationOf } from '../../inbox/postgres/location.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { startProgram } from '../../support/beside.ts';
import { superuser } from '../../support/postgres/address.ts';
import { postgresNeeded, sharedPostgres } from '../../support/postgres/shared.ts';
import { freshHome } from '../../support/run.ts';
import { fleetInbox, startFleet } from './fleet.ts';
import { deliveriesOf, untilTaken } from './sender.ts';

const address = await sharedPostgres();

if (address === undefined) it.skip(postgresNeeded);
else {
  describe('a schema that is not as usual', () => {
    it('takes leads past its last partition, from a role that may make none, and says so', async () => {
      const inbox = fleetInbox(address, { user: 'receiver' });
      const asOwner = fleetInbox(address, { schema: inbox.schema });
      await (await openInbox({ location: locationOf(asOwner.url), clock: systemClock })).close();
      const sql = superuser(address);
      const schema = sql(inbox.schema);
      const months =
        await sql`select c.oid::regclass::text as name from pg_class c join pg_inherits on c.oid = inhrelid
        where relnamespace = ${inbox.schema}::regnamespace and relkind = 'r' and relname ~ '_20[0-9]{2}_[0-9]{2}$'`;
      expect(months.length).toBeGreaterThan(3);
      for (const { name } of months) await sql.unsafe(`drop table ${String(name)}`);
      await sql.unsafe(`create role receiver login password '${address.password}'`);
      await sql`grant usage on schema ${schema} to receiver`;
      await sql`grant select, insert, update, delete on all tables in schema ${schema} to receiver`;
      await sql`grant usage, select on all sequences in schema ${schema} to receiver`;
      await sql.end();
      const receiver = (await startFleet(1, inbox)).at(0);
      expect(await untilTaken(receiver, { id: 'late' })).toBe('accepted');
      expect(await untilTaken(receiver, { id: 'late' })).toBe('duplicate');
      expect([...(await deliveriesOf(asOwner))]).toEqual([['late', 2]]);
      expect(receiver.stderr()).toMatch(/partition/);
    });

    it('ends a program that is older than its schema allows with exit code 3', async () => {
      const inbox = fleetInbox(address);
      await (await openInbox({ location: locationOf(inbox.url), clock: systemClock })).close();
      const sql = superuser(address);
      await sql`update ${sql(inbox.schema)}.meta set version = 99, writable_from = 99`;
      await sql.end();
      const argv = ['listen', '--http', '--token', 'token', '--port', '0', ...inbox.argv];
      const program = startProgram(argv, freshHome(), inbox.env);
      expect(await program.done).toEqual({ exitCode: 3 });
      expect(program.stderr()).toContain('newer');
    });
  });
}
