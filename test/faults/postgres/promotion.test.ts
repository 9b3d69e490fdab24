import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Inbox } from '../../../src/inbox/inbox.ts';
import type { LeadsError } from '../../../src/errors.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { databaseLocation } from '../../../src/inbox/postgres/connection/database-location.ts';
import { acceptServer } from '../../../src/inbox/postgres/write/server-terms.ts';
import { identifier } from '../../../src/inbox/postgres/sql.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { full } from '../../support/faults.ts';
import { newSchema, superuser, urlOf } from '../../support/postgres/address.ts';
import { Cluster } from '../../support/postgres/cluster.ts';
import { startPooler } from '../../support/postgres/pgbouncer.ts';
import { postgresNeeded } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { arrivalOf } from '../../inbox/support.ts';

const clean: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
}, 60_000);

const leads = full ? 1000 : 150;

async function runSql(cluster: Cluster, ...statements: readonly string[]): Promise<readonly Row[]> {
  const client = superuser(cluster.address, 'leads');
  try {
    let rows: readonly Row[] = [];
    for (const statement of statements) rows = await client.unsafe(statement);
    return rows;
  } finally {
    await client.end({ timeout: 1 });
  }
}

type Row = Readonly<Record<string, unknown>>;

async function waitFor(cluster: Cluster, names: string): Promise<void> {
  const setting = `ALTER SYSTEM SET synchronous_standby_names = '${names}'`;
  await runSql(cluster, setting, 'SELECT pg_reload_conf()');
}

/** The servers, a schema, and what is kept on the receivers' machine. `isPooled`: receivers share two connections to each. */
async function startPair(isPooled: boolean) {
  const primary = await Cluster.start();
  if (primary === undefined) throw new Error(postgresNeeded);
  clean.push(() => primary.stop());
  const standby = await primary.standby('s');
  clean.push(() => standby.stop());
  const ports = new Map([primary, standby].map((server) => [server, server.address.port]));
  for (const server of isPooled ? ports.keys() : []) {
    const pooler = await startPooler(server.address, 2);
    if (pooler === undefined) throw new Error('pgbouncer is not installed');
    clean.push(() => pooler.stop());
    ports.set(server, pooler.port);
  }
  const schema = newSchema();
  const dataDir = mkdtempSync(join(tmpdir(), 'leads-terms-'));
  const warnings: string[] = [];
  const warn = ({ kind }: { readonly kind: string }): void => void warnings.push(kind);
  const location = (servers: readonly Cluster[], parameters: Readonly<Record<string, string>> = {}) => {
    const host = servers.map((server) => `127.0.0.1:${ports.get(server) ?? 0}`).join(',');
    const url = urlOf(primary.address, { parameters: { schema, ...parameters } });
    const text = url.replace(`127.0.0.1:${primary.address.port}`, host);
    return databaseLocation(text, { env: { HOME: '/none' }, platform: 'linux', dataDir, warn });
  };
  const receiver = async (...args: Parameters<typeof location>): Promise<Inbox> => {
    const inbox = await openInbox({ location: location(...args), clock: systemClock, warn });
    clean.push(() => inbox.close());
    return inbox;
  };
  const idsOn = async (server: Cluster): Promise<ReadonlyMap<string, number>> => {
    const rows = await runSql(
      server,
      `SELECT convert_from(lead, 'UTF8') AS id, count(*)::int AS count FROM "${schema}".deliveries
        WHERE verdict = 'accepted' GROUP BY 1`,
    );
    return new Map(rows.map(({ id, count }) => [String(id), Number(count)]));
  };
  return { primary, standby, schema, location, receiver, idsOn, warnings };
}

/** Delivers to receivers in turn, again and again as a sender does, until told to stop; what was acknowledged. */
function load(receivers: readonly Inbox[]) {
  const acknowledged = new Set<string>();
  /** How many each receiver acknowledged. */
  const counts = receivers.map(() => 0);
  const given = new Set<string>();
  let isOver = false;
  const deliver = async (inbox: Inbox, i: number, name: string): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const id = `${name}-${n}`;
      given.add(id);
      const taken = await inbox.take([arrivalOf({ id })]).catch(() => []);
      if (taken[0]?.kind !== 'accepted') continue;
      acknowledged.add(id);
      counts[i] = (counts[i] ?? 0) + 1;
    }
  };
  const done = Promise.all(
    receivers.flatMap((inbox, i) => [deliver(inbox, i, `a${i}`), deliver(inbox, i, `b${i}`)]),
  );
  const stop = async (): Promise<void> => {
    isOver = true;
    await done;
  };
  /** Until each receiver has acknowledged so many more. */
  const more = async (count: number, what: string): Promise<void> => {
    const before = [...counts];
    await until(() => counts.every((now, i) => now >= (before[i] ?? 0) + count), what, 60_000);
  };
  return { acknowledged, given, more, stop };
}

describe.each([
  ['', false],
  [', behind poolers', true],
])('a standby that is promoted under load%s', (_, isPooled) => {
  for (let round = 0; round < (full ? 10 : 1); round += 1) {
    it(
      `has every acknowledged lead once, where the primary waited for it (${round})`,
      { timeout: 300_000 },
      async () => {
        const { primary, standby, receiver, idsOn, warnings } = await startPair(isPooled);
        await waitFor(primary, 'ANY 1 (s)');
        const both = { copies: '2', target_session_attrs: 'read-write', connect_timeout: '2' };
        const receivers = [
          await receiver([primary, standby], both),
          await receiver([primary, standby], both),
        ];
        const running = load(receivers);
        await until(() => running.acknowledged.size >= leads, 'leads', 60_000);
        await primary.kill9();
        await runSql(standby, 'SELECT pg_promote()');
        await running.stop();
        const stored = await idsOn(standby);
        expect([...running.acknowledged].filter((id) => !stored.has(id))).toEqual([]);
        expect([...stored.values()].every((count) => count === 1)).toBe(true);
        expect(warnings).toEqual([]);

        // Every lead is delivered again once there is another copy, and what was acknowledged is a duplicate.
        await waitFor(standby, 'ANY 1 (t)');
        const next = await standby.standby('t');
        clean.push(() => next.stop());
        const verdictOf = async (inbox: Inbox | undefined, id: string): Promise<string> => {
          let verdict: string | undefined;
          await until(async () => {
            verdict = (await inbox?.take([arrivalOf({ id })]).catch(() => []))?.[0]?.kind;
            return verdict !== undefined;
          }, id);
          return verdict ?? '';
        };
        // What it accepted last, each receiver tells the new server with its first transaction there.
        for (const [i, inbox] of receivers.entries()) await verdictOf(inbox, `first-of-${i}`);
        for (const id of running.given) {
          const verdict = await verdictOf(receivers[0], id);
          if (running.acknowledged.has(id)) expect(verdict).toBe('duplicate');
        }
        const all = await idsOn(standby);
        expect([...running.given].filter((id) => all.get(id) !== 1)).toEqual([]);
      },
    );

    it(
      `is written to alone, though the old primary comes back (${round})`,
      { timeout: 300_000 },
      async () => {
        const { primary, standby, schema, location, receiver, idsOn, warnings } = await startPair(isPooled);
        const attributes = { target_session_attrs: 'read-write', connect_timeout: '2' };
        const receivers = [
          await receiver([primary, standby], attributes),
          await receiver([primary, standby], attributes),
        ];
        // Before anything is lost.
        expect(warnings).toContain('inbox-in-one-copy');
        const running = load(receivers);
        await running.more(leads / 2, 'leads');
        await primary.kill9();
        await runSql(standby, 'SELECT pg_promote()');
        await running.more(leads / 2, 'leads on the promoted one');
        await primary.start();
        const old = (await idsOn(primary)).size;
        await runSql(
          standby,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'leads'",
        );
        await running.more(leads / 2, 'leads behind it');
        await running.stop();
        expect((await idsOn(primary)).size).toBe(old);
        expect([...(await idsOn(standby)).values()].every((count) => count === 1)).toBe(true);

        // Nor by a receiver that is started now, on this machine.
        const late = await receiver([primary, standby], attributes);
        expect(await late.take([arrivalOf({ id: 'late' })])).toMatchObject([{ kind: 'accepted' }]);
        expect((await idsOn(primary)).size).toBe(old);
        const alone = () =>
          openInbox({ location: location([primary]), clock: systemClock }).then(
            () => undefined,
            (error: unknown) => (error as LeadsError).problem,
          );
        // A pooler lets nobody in for a second after its logins failed.
        await expect.poll(alone).toMatchObject({ kind: 'database-behind-term', term: 1, seen: 2 });
        await runSql(primary, acceptServer(identifier(schema)).text);
        const accepted = await receiver([primary]);
        expect(await accepted.take([arrivalOf({ id: 'x' })])).toMatchObject([{ kind: 'accepted' }]);
      },
    );
  }
});
