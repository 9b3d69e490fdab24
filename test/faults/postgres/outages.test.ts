import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { freePort } from '../../support/free-port.ts';
import { freshHome } from '../../support/run.ts';
import { full, printFigure } from '../../support/faults.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { superuser } from '../../support/postgres/address.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { startPooler } from '../../support/postgres/pgbouncer.ts';
import { withCluster } from '../../support/postgres/with-cluster.ts';
import { until } from '../../support/until.ts';
import { fleetInbox, startFleet } from './fleet.ts';
import { deliveriesOf, printed, untilTaken } from './sender.ts';

const bin = fileURLToPath(new URL('../../../bin/leads.js', import.meta.url));

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

/** As a superuser, for every session that is there or comes. */
async function alterSystem(cluster: Cluster, setting: string): Promise<void> {
  const sql = superuser(cluster.address);
  await sql.unsafe(`alter system ${setting}`);
  await sql`select pg_reload_conf()`;
  await sql.end();
}

/** Resolves to what starts it again, which the end of the test does as well. */
async function shutDown(cluster: Cluster): Promise<() => Promise<void>> {
  await cluster.shutDown();
  let isUp = false;
  const start = async (): Promise<void> => {
    if (isUp) return;
    isUp = true;
    await cluster.start();
  };
  clean.push(start);
  return start;
}

// Written with a long delay, what is not synchronous is lost for certain when the server is killed.
await withCluster({ settings: { wal_writer_delay: '10s' } }, async (cluster) => {
  const pooler = await startPooler(cluster.address, 2);
  if (pooler === undefined)
    process.stderr.write('skipped: outages behind pgbouncer, which is not installed\n');
  else afterAll(() => pooler.stop());
  const ways: readonly (readonly [string, number])[] = [
    ['without a pooler', cluster.address.port],
    ...(pooler === undefined ? [] : [['behind a pooler', pooler.port] as const]),
  ];

  describe.each(ways)('%s', (_, port) => {
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
        const inbox = fleetInbox(cluster.address, { port });
        const receiver = (await startFleet(1, inbox)).at(0);
        const ids = Array.from({ length: full ? 2000 : 70 }, (_, i) => `lead-${i}`);
        await inParallel(ids, 20, async (id) => {
          expect(await receiver.deliver({ id })).toMatchObject({ status: 200 });
        });
        await cluster.kill9();
        await cluster.start();
        const stored = await deliveriesOf(fleetInbox(cluster.address, { schema: inbox.schema }));
        const lost = ids.filter((id) => !stored.has(id));
        printFigure(
          18,
          `synchronous_commit=off, kill -9 after ${ids.length} acknowledgements: lost ${lost.length}`,
        );
        expect(lost).toEqual([]);
        // The receiver lives on, and finds the database again by itself.
        expect(await untilTaken(receiver, { id: 'lead-0' })).toBe('duplicate');
      });
    });

    describe('a database that does not answer', () => {
      it('is 503 after five seconds, and takes leads again by itself when it does', async () => {
        const receiver = (await startFleet(1, fleetInbox(cluster.address, { port }))).at(0);
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
        printFigure(
          18,
          `database stopped: 503 after ${seconds.toFixed(1)} s; back ${((performance.now() - back) / 1000).toFixed(1)} s after it`,
        );
        await expect.poll(() => printed([receiver])).toEqual(['before', 'while stopped']);
      });
    });

    describe('a database that cannot be written', () => {
      it('is 503 while it is read-only, as after a failover, and is written again when it can be', async () => {
        const receiver = (await startFleet(1, fleetInbox(cluster.address, { port }))).at(0);
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
    });
  });

  describe('a database whose packets are dropped', () => {
    it('delays no metrics, which say that it does not answer', async () => {
      const proxy = await TcpProxy.start(cluster.address);
      clean.push(() => proxy.stop());
      const receiver = (await startFleet(1, fleetInbox(cluster.address, { port: proxy.port }))).at(0);
      const valueOf = (text: string, name: string): string | undefined =>
        new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1];
      const isUp = ({ text }: { readonly text: string }) => valueOf(text, 'leads_inbox_up');
      expect(isUp(await receiver.admin('/metrics'))).toBe('1');
      proxy.hold();
      const took: number[] = [];
      const up: unknown[] = [];
      const since = performance.now();
      while (performance.now() - since < (full ? 30_000 : 8000)) {
        const startedAt = performance.now();
        const answer = await receiver.admin('/metrics');
        took.push(performance.now() - startedAt);
        if (performance.now() - since > 4000) up.push(isUp(answer));
        await systemClock.sleep(100);
      }
      expect(up).not.toEqual([]);
      expect(up).toEqual(up.map(() => '0'));
      const p99 = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0;
      printFigure(18, `packets dropped: ${took.length} times /metrics, p99 ${p99.toFixed(0)} ms`);
      expect(p99).toBeLessThan(1000);
      expect((await receiver.admin('/readyz')).status).toBe(503);
      proxy.resume();
      await until(
        async () => valueOf((await receiver.admin('/metrics')).text, 'leads_inbox_up') === '1',
        'metrics of the inbox',
      );
    });
  });

  describe('a database that is started after its receivers', () => {
    it('is waited for with 503, and used within seconds of its start', async () => {
      const inbox = fleetInbox(cluster.address);
      const startCluster = await shutDown(cluster);
      const started = await Promise.all(
        Array.from({ length: 3 }, async () => {
          const [port, admin] = [await freePort(), await freePort()];
          const argv = [
            'listen',
            '--http',
            '--port',
            String(port),
            '--admin',
            String(admin),
            '--token',
            'tok',
          ];
          const child = execa(process.execPath, [bin, ...argv, ...inbox.argv], {
            env: { ...inbox.env, LEADS_DATA_DIR: freshHome(), LEADS_CONFIG_DIR: freshHome() },
            reject: false,
          });
          clean.push(() => child.kill('SIGKILL'));
          return { child, port, admin };
        }),
      );
      const statusOf = (port: number, path: string, options = {}): Promise<number> =>
        request(`http://127.0.0.1:${port}${path}`, options).then(
          async ({ statusCode, body }) => {
            await body.dump();
            return statusCode;
          },
          () => 0,
        );
      const delivered = (port: number, id: string): Promise<number> =>
        statusOf(port, '/', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-webhook-token': 'tok' },
          body: JSON.stringify({ id }),
        });
      for (const { port, admin } of started) {
        await until(async () => (await delivered(port, 'early')) === 503, '503');
        await until(async () => (await statusOf(admin, '/readyz')) === 503, 'not ready');
        expect(await statusOf(admin, '/livez')).toBe(200);
      }
      await startCluster();
      const since = performance.now();
      for (const [i, { port, admin }] of started.entries()) {
        await until(async () => (await statusOf(admin, '/readyz')) === 200, 'readiness');
        expect(await delivered(port, `late-${i}`)).toBe(200);
      }
      expect(performance.now() - since).toBeLessThan(5000);
      expect([...(await deliveriesOf(inbox)).keys()].toSorted()).toEqual(['late-0', 'late-1', 'late-2']);
      for (const { child } of started) child.kill('SIGINT');
      for (const { child } of started) {
        const { stderr } = await child;
        expect(stderr.match(/waits for the database/g)).toHaveLength(1);
      }
    });

    it.each([
      ['inspect', []],
      ['audit', ['--watch', '1h', '--base-url', 'http://127.0.0.1:9']],
    ])('is waited for by %s', async (command, flags) => {
      const inbox = fleetInbox(cluster.address);
      await (await startFleet(1, inbox)).end('SIGTERM');
      const startCluster = await shutDown(cluster);
      const argv = [bin, command, ...flags, ...inbox.argv];
      const env = {
        ...inbox.env,
        LEADS_DATA_DIR: freshHome(),
        LEADS_CONFIG_DIR: freshHome(),
        LEADS_API_KEY: 'k',
      };
      const child = execa(process.execPath, argv, { env, reject: false });
      clean.push(() => child.kill('SIGKILL'));
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      await until(() => stderr.includes('waits for the database: '), 'the notice');
      const notWaiting = argv.map((one) => (one.startsWith('postgres:') ? `${one}&wait=0` : one));
      const once = await execa(process.execPath, notWaiting, { env, reject: false, timeout: 3000 });
      // The watch tries again in an hour.
      expect(once.exitCode).toBe(command === 'inspect' ? 5 : 143);
      expect(once.stderr).not.toContain('waits for the database');
      await startCluster();
      await until(() => stderr.includes('the database answers'), 'the end of the wait', 5000);
      expect(child.exitCode).toBeNull();
    });

    it('is not waited for where the URL says so, and its receiver ends on a signal while it waits', async () => {
      const { url } = fleetInbox(cluster.address, { port: await freePort() });
      const env = { LEADS_DATA_DIR: freshHome(), LEADS_CONFIG_DIR: freshHome() };
      const listen = (inbox: string) =>
        execa(process.execPath, [bin, 'listen', '--http', '--port', '0', '--token', 't'], {
          env: { ...env, LEADS_INBOX: inbox },
          reject: false,
        });
      expect(await listen(`${url}&wait=0`)).toMatchObject({ exitCode: 5 });
      const waiting = listen(url);
      let stderr = '';
      waiting.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      await until(() => stderr.includes('waits for the database'), 'the notice');
      waiting.kill('SIGINT');
      expect(await waiting).toMatchObject({ exitCode: 130 });
    });
  });
});
