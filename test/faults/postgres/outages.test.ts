import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { startProgram } from '../../support/beside.ts';
import { sized } from '../../support/faults.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { superuser } from '../../support/postgres/address.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { withCluster } from '../../support/postgres/with-cluster.ts';
import { freshHome } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import type { AdminProcess } from '../admin-process.ts';
import { startApp } from './app.ts';
import { Fleet, type FleetInbox, fleetInbox } from './fleet.ts';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function start(count: number, inbox: FleetInbox, argv: readonly string[] = []): Promise<Fleet> {
  const fleet = await Fleet.start(count, inbox, argv);
  clean.push(() => fleet.end());
  return fleet;
}

async function proxied(cluster: Cluster): Promise<TcpProxy> {
  const proxy = await TcpProxy.start(cluster.address);
  clean.push(() => proxy.stop());
  return proxy;
}

/** As a superuser, for every session that is there or comes. */
async function alterSystem(cluster: Cluster, setting: string): Promise<void> {
  const sql = superuser(cluster.address);
  await sql.unsafe(`alter system ${setting}`);
  await sql`select pg_reload_conf()`;
  await sql.end();
}

/** How often each lead is among the deliveries of an inbox. */
async function deliveriesOf({ url }: FleetInbox): Promise<Map<string, number>> {
  const store = await openInbox({ location: url, clock: systemClock });
  const times = new Map<string, number>();
  for await (const { leadId = '' } of store.list({})) times.set(leadId, (times.get(leadId) ?? 0) + 1);
  await store.close();
  return times;
}

const verdictOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { status: string }).status;

/** As a sender that does not give up. */
async function untilTaken(receiver: AdminProcess, lead: { readonly id: string }): Promise<string> {
  for (;;) {
    const answer = await receiver.deliver(lead);
    if (answer.status === 200) return verdictOf(answer);
    expect(answer.status).toBe(503);
    await systemClock.sleep(20);
  }
}

/** The ids that receivers printed, each a line with a lead. */
const printed = (receivers: readonly AdminProcess[]): string[] =>
  receivers.flatMap((one) => idsIn(one.stdout()));
const idsIn = (lines: string): string[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: string }).id);

// Written with a long delay, what is not synchronous is lost for certain when the server is killed.
await withCluster({ settings: { wal_writer_delay: '10s' } }, (cluster) => {
  describe('a database that is killed', () => {
    it('has what was acknowledged, although its role does not wait for the disk', async () => {
      const sql = superuser(cluster.address);
      await sql`alter role leads set synchronous_commit = off`;
      clean.push(async () => {
        await sql.end({ timeout: 1 });
        const again = superuser(cluster.address);
        await again`alter role leads reset synchronous_commit`;
        await again.end();
      });
      const inbox = fleetInbox(cluster.address);
      const receiver = (await start(1, inbox)).at(0);
      const ids = Array.from({ length: sized(2000) }, (_, i) => `lead-${i}`);
      await inParallel(ids, 20, async (id) => {
        expect(await receiver.deliver({ id })).toMatchObject({ status: 200 });
      });
      await cluster.kill9();
      await cluster.start();
      const stored = await deliveriesOf(inbox);
      const lost = ids.filter((id) => !stored.has(id));
      console.log(
        `synchronous_commit=off, kill -9 after ${ids.length} acknowledgements: lost ${lost.length}`,
      );
      expect(lost).toEqual([]);
      // The receiver lives on, and finds the database again by itself.
      expect(await untilTaken(receiver, { id: 'lead-0' })).toBe('duplicate');
    });

    it('has both deliveries of an id that two processes took at the same moment', async () => {
      const inbox = fleetInbox(cluster.address);
      const fleet = await start(2, inbox);
      const rounds = sized(1000);
      const verdicts = new Map<string, number>();
      await inParallel(
        Array.from({ length: rounds }, (_, i) => `same-${i}`),
        4,
        async (id) => {
          const answers = await Promise.all(fleet.receivers.map((receiver) => receiver.deliver({ id })));
          const both = answers.map(verdictOf).toSorted().join(' and ');
          verdicts.set(both, (verdicts.get(both) ?? 0) + 1);
        },
      );
      await cluster.kill9();
      await cluster.start();
      const stored = await deliveriesOf(inbox);
      console.log(
        `two processes, one id at the same moment, ${rounds} times: ${JSON.stringify([...verdicts])}; ` +
          `deliveries kept ${[...stored.values()].reduce((sum, times) => sum + times, 0)}`,
      );
      expect([...verdicts]).toEqual([['accepted and duplicate', rounds]]);
      expect([...stored.values()].filter((times) => times !== 2)).toEqual([]);
      expect(stored.size).toBe(rounds);
      await expect.poll(() => printed(fleet.receivers).toSorted()).toEqual([...stored.keys()].toSorted());
    });
  });

  describe('a database that does not answer', () => {
    it('is 503 after five seconds, and takes leads again by itself when it does', async () => {
      const receiver = (await start(1, fleetInbox(cluster.address))).at(0);
      expect(await receiver.deliver({ id: 'before' })).toMatchObject({ status: 200 });
      cluster.signal('SIGSTOP');
      clean.push(() => cluster.signal('SIGCONT'));
      const since = performance.now();
      const { status } = await receiver.deliver({ id: 'while stopped' });
      const seconds = (performance.now() - since) / 1000;
      expect([status, (await receiver.admin('/readyz')).status]).toEqual([503, 503]);
      expect(seconds).toBeGreaterThan(4);
      expect(seconds).toBeLessThan(8);
      cluster.signal('SIGCONT');
      const back = performance.now();
      expect(await untilTaken(receiver, { id: 'while stopped' })).toBe('accepted');
      await until(async () => (await receiver.admin('/readyz')).status === 200, 'readiness');
      console.log(
        `database stopped: 503 after ${seconds.toFixed(1)} s; back ${((performance.now() - back) / 1000).toFixed(1)} s after it`,
      );
      await expect.poll(() => printed([receiver])).toEqual(['before', 'while stopped']);
    });

    it('costs no lead when connections are cut', async () => {
      const proxy = await proxied(cluster);
      const inbox = fleetInbox(cluster.address, { port: proxy.port });
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

  describe('a COMMIT whose answer is lost', () => {
    it.each([
      { retried: 'at the same receiver', at: 0 },
      { retried: 'at another one', at: 1 },
    ])('is 503, and its lead is accepted exactly once when it is retried $retried', async ({ at }) => {
      const proxy = await proxied(cluster);
      const app = await startApp();
      clean.push(() => app.stop());
      const inbox = fleetInbox(cluster.address, { port: proxy.port });
      const output = join(freshHome(), 'leads.ndjson');
      const fleet = await start(2, inbox, ['--output', output, '--forward-to', app.url]);
      const plain = await start(2, fleetInbox(cluster.address, { port: proxy.port }));
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

  describe('a database that cannot be written', () => {
    it('is 503 while it is read-only, as after a failover, and is written again when it can be', async () => {
      const receiver = (await start(1, fleetInbox(cluster.address))).at(0);
      expect(await receiver.deliver({ id: 'before' })).toMatchObject({ status: 200 });
      await alterSystem(cluster, 'set default_transaction_read_only = on');
      clean.push(() => alterSystem(cluster, 'reset default_transaction_read_only'));
      let n = 0;
      await until(
        async () => (await receiver.deliver({ id: `read-only-${(n += 1)}` })).status === 503,
        '503',
      );
      await until(async () => (await receiver.admin('/readyz')).status === 503, 'not ready');
      await alterSystem(cluster, 'reset default_transaction_read_only');
      expect(await untilTaken(receiver, { id: `read-only-${n}` })).toBe('accepted');
      const all = ['before', ...Array.from({ length: n }, (_, i) => `read-only-${i + 1}`)];
      await expect.poll(() => printed([receiver])).toEqual(all);
    });

    it('takes leads past its last partition, from a role that may make none, and says so', async () => {
      const inbox = fleetInbox(cluster.address, { user: 'receiver' });
      const asOwner = fleetInbox(cluster.address, { schema: inbox.schema });
      await (await openInbox({ location: asOwner.url, clock: systemClock })).close();
      const sql = superuser(cluster.address);
      const schema = sql(inbox.schema);
      const months =
        await sql`select c.oid::regclass::text as name from pg_class c join pg_inherits on c.oid = inhrelid
        where relnamespace = ${inbox.schema}::regnamespace and relkind = 'r' and relname ~ '_20[0-9]{2}_[0-9]{2}$'`;
      expect(months.length).toBeGreaterThan(3);
      for (const { name } of months) await sql.unsafe(`drop table ${String(name)}`);
      await sql.unsafe(`create role receiver login password '${cluster.address.password}'`);
      await sql`grant usage on schema ${schema} to receiver`;
      await sql`grant select, insert, update, delete on all tables in schema ${schema} to receiver`;
      await sql`grant usage on all sequences in schema ${schema} to receiver`;
      await sql.end();
      const receiver = (await start(1, inbox)).at(0);
      expect(await untilTaken(receiver, { id: 'late' })).toBe('accepted');
      expect(await untilTaken(receiver, { id: 'late' })).toBe('duplicate');
      expect([...(await deliveriesOf(asOwner))]).toEqual([['late', 2]]);
      expect(receiver.stderr()).toMatch(/partition/);
    });

    it('ends a program that is older than its schema allows with exit code 3', async () => {
      const inbox = fleetInbox(cluster.address);
      await (await openInbox({ location: inbox.url, clock: systemClock })).close();
      const sql = superuser(cluster.address);
      await sql`update ${sql(inbox.schema)}.meta set version = 99, writable_from = 99`;
      await sql.end();
      const argv = ['listen', '--http', '--token', 'token', '--port', '0', ...inbox.argv];
      const program = startProgram(argv, freshHome(), inbox.env);
      expect(await program.done).toEqual({ exitCode: 3 });
      expect(program.stderr()).toContain('newer');
    });
  });
});
