import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sized } from '../../support/faults.ts';
import { inParallel } from '../../support/in-parallel.ts';
import type { PostgresAddress } from '../../support/postgres/address.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { freshHome } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { startApp } from './app.ts';
import { Fleet, type FleetInbox, fleetInbox } from './fleet.ts';
import { idsIn, printed, untilTaken } from './sender.ts';

const address = await sharedPostgres();

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function start(count: number, inbox: FleetInbox, argv: readonly string[] = []): Promise<Fleet> {
  const fleet = await Fleet.start(count, inbox, argv);
  clean.push(() => fleet.end());
  return fleet;
}

async function proxied(to: PostgresAddress): Promise<TcpProxy> {
  const proxy = await TcpProxy.start(to);
  clean.push(() => proxy.stop());
  return proxy;
}

if (address === undefined) it.skip('needs PostgreSQL, which no package has for this platform');
else {
  describe('a COMMIT whose answer is lost', () => {
    it.each([
      { retried: 'at the same receiver', at: 0 },
      { retried: 'at another one', at: 1 },
    ])('is 503, and its lead is accepted exactly once when it is retried $retried', async ({ at }) => {
      const proxy = await proxied(address);
      const app = await startApp();
      clean.push(() => app.stop());
      const inbox = fleetInbox(address, { port: proxy.port });
      const output = join(freshHome(), 'leads.ndjson');
      const fleet = await start(2, inbox, ['--output', output, '--forward-to', app.url]);
      const plain = await start(2, fleetInbox(address, { port: proxy.port }));
      for (const receivers of [fleet, plain]) {
        const lost = proxy.loseNextCommit();
        expect(await receivers.at(0).deliver({ id: 'lost' })).toMatchObject({ status: 503 });
        await lost;
        expect(await untilTaken(receivers.at(at), { id: 'lost' })).toBe('accepted');
        expect(await untilTaken(receivers.at(0), { id: 'lost' })).toBe('duplicate');
        expect(await untilTaken(receivers.at(1), { id: 'lost' })).toBe('duplicate');
        await expect.poll(() => printed(receivers.receivers)).toEqual(['lost']);
      }
      expect(idsIn(readFileSync(output, 'utf8'))).toEqual(['lost']);
      expect([...app.got]).toEqual([['lost', 1]]);
    });
  });

  describe('connections that are cut', () => {
    it('cost no lead, and emit none twice', async () => {
      const proxy = await proxied(address);
      const inbox = fleetInbox(address, { port: proxy.port });
      const receiver = (await start(1, inbox)).at(0);
      const ids = Array.from({ length: sized(2000) }, (_, i) => `lead-${i}`);
      let taken = 0;
      let cuts = 0;
      const sending = inParallel(ids, 10, async (id) => {
        await untilTaken(receiver, { id });
        taken += 1;
      });
      for (; cuts < 5; cuts += 1) {
        await until(() => taken >= ((cuts + 1) * ids.length) / 7, 'further acknowledgements');
        proxy.cut();
      }
      await sending;
      console.log(
        `connections cut ${cuts} times under ${ids.length} leads: emitted ${printed([receiver]).length}`,
      );
      await expect.poll(() => printed([receiver]).toSorted()).toEqual(ids.toSorted());
    });
  });
}
