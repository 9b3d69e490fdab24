import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { full } from '../../support/faults.ts';
import { inParallel } from '../../support/in-parallel.ts';
import type { PostgresAddress } from '../../support/postgres/address.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { postgresNeeded, sharedPostgres } from '../../support/postgres/shared.ts';
import { freshHome } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { startApp } from './app.ts';
import { fleetInbox, startFleet } from './fleet.ts';
import { deliveriesOf, idsIn, printed, untilTaken } from './sender.ts';

const address = await sharedPostgres();

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function proxied(to: PostgresAddress): Promise<TcpProxy> {
  const proxy = await TcpProxy.start(to);
  clean.push(() => proxy.stop());
  return proxy;
}

if (address === undefined) it.skip(postgresNeeded);
else {
  describe('a COMMIT whose answer is lost', () => {
    it('is 503, and its lead reaches every target once when it is retried', async () => {
      const proxy = await proxied(address);
      const app = await startApp();
      clean.push(() => app.stop());
      const output = join(freshHome(), 'leads.ndjson');
      const inbox = fleetInbox(address, { port: proxy.port });
      // What was claimed in a transaction of which nobody heard is sent once the claim ends, after eleven seconds.
      const flags = ['--output', output, '--forward-to', app.url, '--timeout', '1s'];
      const receiver = (await startFleet(1, inbox, flags)).at(0);
      expect(await receiver.deliver({ id: 'before' })).toMatchObject({ status: 200 });
      const lost = proxy.loseNextCommit('lost');
      expect(await receiver.deliver({ id: 'lost' })).toMatchObject({ status: 503 });
      await lost;
      await untilTaken(receiver, { id: 'lost' });
      expect(await untilTaken(receiver, { id: 'lost' })).toBe('duplicate');
      const written = (): string[] => idsIn(readFileSync(output, 'utf8'));
      await until(() => written().length === 2 && app.got.size === 2, 'both targets', 60_000);
      expect(written()).toEqual(['before', 'lost']);
      expect([...app.got]).toEqual([
        ['before', 1],
        ['lost', 1],
      ]);
    });

    it.each([
      { retried: 'at the same receiver', at: 0 },
      { retried: 'at another one', at: 1 },
    ])('is 503, and a duplicate when its lead is retried $retried', async ({ at }) => {
      const proxy = await proxied(address);
      const inbox = fleetInbox(address, { port: proxy.port });
      const fleet = await startFleet(2, inbox);
      const lost = proxy.loseNextCommit('lost');
      expect(await fleet.at(0).deliver({ id: 'lost' })).toMatchObject({ status: 503 });
      await lost;
      expect(await untilTaken(fleet.at(at), { id: 'lost' })).toBe('duplicate');
      expect(await deliveriesOf(inbox)).toEqual(new Map([['lost', 2]]));
    });
  });

  describe('connections that are cut', () => {
    it('cost no lead, and store none twice', async () => {
      const proxy = await proxied(address);
      const inbox = fleetInbox(address, { port: proxy.port });
      const receiver = (await startFleet(1, inbox)).at(0);
      const ids = Array.from({ length: full ? 2000 : 70 }, (_, i) => `lead-${i}`);
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
      const emitted = printed([receiver]);
      expect(new Set(emitted).size).toBe(emitted.length);
      expect([...(await deliveriesOf(inbox)).keys()].toSorted()).toEqual(ids.toSorted());
      console.log(
        `connections cut ${cuts} times under ${ids.length} leads: all stored, ${emitted.length} emitted, none twice`,
      );
    });
  });
}
