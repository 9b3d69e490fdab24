import { afterAll, describe, expect, it } from 'vitest';
import { full } from '../../support/faults.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { newDatabase, superuser } from '../../support/postgres/address.ts';
import { startPooler } from '../../support/postgres/pgbouncer.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { startApp } from './app.ts';
import { Fleet, fleetInbox } from './fleet.ts';
import { verdictOf } from './sender.ts';

const address = await sharedPostgres();
// Fewer connections than two receivers have: each transaction may run on another one.
const pooler = address && (await startPooler(address, 2));
const missing = address === undefined ? 'PostgreSQL' : 'pgbouncer';
if (address === undefined || pooler === undefined) it.skip(`needs ${missing}, which is not installed`);
else {
  afterAll(() => pooler.stop());
  describe('behind a pooler in transaction mode', () => {
    it('two receivers take, and every command that reads an inbox does', async () => {
      const database = await newDatabase(address);
      const inbox = fleetInbox(address, { port: pooler.port, database });
      const app = await startApp();
      const fleet = await Fleet.start(2, inbox, ['--forward-to', app.url]);
      afterAll(async () => {
        await fleet.end();
        app.stop();
      });
      const ids = Array.from({ length: full ? 2000 : 70 }, (_, i) => `lead-${i}`);
      const verdicts = new Map<string, number>();
      // Both get each lead at the same moment.
      await inParallel(ids, 10, async (id) => {
        for (const answer of await Promise.all(fleet.receivers.map((receiver) => receiver.deliver({ id })))) {
          expect(answer).toMatchObject({ status: 200 });
          verdicts.set(verdictOf(answer), (verdicts.get(verdictOf(answer)) ?? 0) + 1);
        }
      });
      expect(Object.fromEntries(verdicts)).toEqual({ accepted: ids.length, duplicate: ids.length });
      await until(() => app.got.size === ids.length, 'the last forward');
      expect(ids.filter((id) => app.got.get(id) !== 1)).toEqual([]);
      for (const receiver of fleet.receivers) {
        expect(await receiver.admin('/readyz')).toMatchObject({ status: 200 });
        expect((await receiver.admin('/metrics')).text).toContain('\nleads_inbox_up 1\n');
      }

      const run = async (...argv: string[]): Promise<string[]> => {
        const { exitCode, stdout, stderr } = await leads([...argv, ...inbox.argv], {
          env: inbox.env,
          clock: systemClock,
        });
        expect([exitCode, stderr.includes('error')]).toEqual([0, false]);
        return stdout.split('\n').filter((line) => line !== '');
      };
      const exported = (await run('inbox', 'export')).map((line) => (JSON.parse(line) as { id: string }).id);
      expect(exported.toSorted()).toEqual(ids.toSorted());
      expect(await run('inbox', 'list', '--limit', 'all', '--format', 'ndjson')).toHaveLength(2 * ids.length);
      expect(await run('inbox', 'show', 'lead-0')).not.toEqual([]);
      await run('inbox', 'prune', '--before', '0s');
      expect(await run('inbox', 'export')).toEqual([]);
      expect((await fleet.any().deliver({ id: 'lead-0' })).text).toContain('duplicate');
      expect(await fleet.end('SIGTERM')).toEqual([143, 143]);

      const sql = superuser(address, database);
      const [left] = await sql`select count(*)::int as locks from pg_locks where locktype = 'advisory' and
        database = (select oid from pg_database where datname = current_database())`;
      await sql.end();
      expect(left).toEqual({ locks: 0 });
      expect(pooler.log()).not.toMatch(/ERROR|FATAL|unsupported startup parameter/);
      console.log(
        `pgbouncer in transaction mode: ${2 * ids.length} deliveries over 2 connections: all taken`,
      );
    });
  });
}
