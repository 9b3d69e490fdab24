import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { full } from '../../support/faults.ts';
import { environment } from '../../support/listen-process.ts';
import { superuser } from '../../support/postgres/address.ts';
import { postgresNeeded, sharedPostgres } from '../../support/postgres/shared.ts';
import { freshHome } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { Fleet, fleetInbox } from './fleet.ts';
import { buildNextRelease } from './next-release.ts';

const between = full ? 2000 : 30;
const address = await sharedPostgres();

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

if (address === undefined) it.skip(postgresNeeded);
else {
  describe('a release and the next one', () => {
    it('write one database while it is migrated, and refuse no delivery', async () => {
      const next = await buildNextRelease({
        writableFrom: 1,
        statements: `ALTER TABLE S.deliveries ADD COLUMN note bytea;
          ALTER TABLE S.ids ADD COLUMN noted boolean NOT NULL DEFAULT false;
          CREATE INDEX noted ON S.ids (seq) WHERE noted;
          CREATE TABLE S.notes (lead bytea PRIMARY KEY, note bytea NOT NULL);`,
      });
      const inbox = fleetInbox(address);
      const fleets = [await Fleet.start(2, inbox)];
      clean.push(() => Promise.all(fleets.map((fleet) => fleet.end())));
      const state = { isOver: false };
      const isOver = (): boolean => state.isOver;
      clean.push(() => (state.isOver = true));
      const refused: string[] = [];
      let taken = 0;
      const sending = Array.from({ length: 8 }, async (_, sender) => {
        for (let n = 0; !isOver(); n += 1) {
          const fleet = fleets[n % fleets.length];
          const id = `lead-${sender}-${n}`;
          const how = await fleet
            ?.any()
            .deliver({ id })
            .then(({ status }) => String(status), String);
          if (how === '200') taken += 1;
          else refused.push(`${id}: ${how ?? ''}`);
        }
      });
      const more = async (): Promise<void> => {
        const after = taken + between;
        await until(() => taken + refused.length >= after, 'further deliveries', 60_000);
      };
      await more();
      const home = freshHome();
      const env = { PATH: process.env['PATH'], ...environment(home), ...inbox.env };
      await promisify(execFile)(process.execPath, [next, 'inbox', 'migrate', ...inbox.argv], { env });
      await more();
      fleets.push(await Fleet.start(2, inbox, [], next));
      await more();
      // A deployment that is rolled back: this release starts on the newer schema.
      fleets.push(await Fleet.start(1, inbox));
      await more();
      state.isOver = true;
      await Promise.all(sending);
      const sql = superuser(address);
      const [meta] = await sql`select version, writable_from from ${sql(inbox.schema)}.meta`;
      await sql.end();
      console.log(
        `migrated under ${taken + refused.length} deliveries to two releases: refused ${refused.length}`,
      );
      expect(refused).toEqual([]);
      expect(meta?.['version']).toBeGreaterThan(Number(meta?.['writable_from']));
    });
  });
}
