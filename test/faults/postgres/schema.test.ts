import { describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { locationOf } from '../../inbox/postgres/location.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { startProgram } from '../../support/beside.ts';
import { superuser } from '../../support/postgres/address.ts';
import { postgresNeeded, sharedPostgres } from '../../support/postgres/shared.ts';
import { freshHome } from '../../support/run.ts';
import { fleetInbox } from './fleet.ts';

const address = await sharedPostgres();

if (address === undefined) it.skip(postgresNeeded);
else {
  describe('a schema of a newer release', () => {
    it('ends a program with exit code 3', async () => {
      const inbox = fleetInbox(address);
      await (await openInbox({ location: locationOf(inbox.url), clock: systemClock })).close();
      const sql = superuser(address);
      await sql`update ${sql(inbox.schema)}.meta set version = 99`;
      await sql.end();
      const argv = ['listen', '--http', '--token', 'token', '--port', '0', ...inbox.argv];
      const program = startProgram(argv, freshHome(), inbox.env);
      expect(await program.done).toEqual({ exitCode: 3 });
      expect(program.stderr()).toContain('newer');
    });
  });
}
