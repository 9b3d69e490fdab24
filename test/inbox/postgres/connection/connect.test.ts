import { inWords } from '../../../support/in-words.ts';
import { exitCodeOf } from '../../../../src/exit-codes.ts';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../../../src/inbox/postgres/connection/connect.ts';
import type { Connections } from '../../../../src/inbox/postgres/connection/database-connections.ts';
import { DatabaseUnavailableError } from '../../../../src/inbox/postgres/connection/database-errors.ts';
import { freePort } from '../../../support/free-port.ts';
import { newDatabase, superuser, urlOf } from '../../../support/postgres/address.ts';
import { TcpProxy } from '../../../support/postgres/proxy.ts';
import { sharedPostgres } from '../../../support/postgres/shared.ts';
import { until } from '../../../support/until.ts';
import { Sql, sql } from '../../../../src/inbox/postgres/sql.ts';
import { locationOf } from '../location.ts';

const address = await sharedPostgres();
const deadPort = await freePort();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(
  url: string,
  env: Record<string, string> = {},
  connections?: number,
): Promise<Connections> {
  const opened = await connect(locationOf(url, { env }), { connections });
  ends.push(() => opened.close());
  return opened;
}

const ask = (connections: Connections, text: string, answerMs?: number) =>
  connections.use((connection) => connection.run(new Sql(text.split(/(;)/)), answerMs));

async function proxied(): Promise<{ proxy: TcpProxy; url: string }> {
  if (address === undefined) throw new Error('no database');
  const proxy = await TcpProxy.start(address);
  ends.push(() => proxy.stop());
  return { proxy, url: urlOf(address, { port: proxy.port }) };
}

describe.skipIf(address === undefined)('a database', () => {
  if (address === undefined) return;
  const { password, port, socketDirectory } = address;
  const bare = urlOf(address, { password: '' });
  const passFile = join(mkdtempSync(join(tmpdir(), 'leads-pgpass-')), 'pass');
  writeFileSync(passFile, `127.0.0.1:${port}:leads:leads:${password}\n`, { mode: 0o600 });

  test.each([
    ['a password in the URL', urlOf(address), {}],
    ['PGPASSWORD', bare, { PGPASSWORD: password }],
    ['PGPASSFILE', bare, { PGPASSFILE: passFile }],
    ['a socket directory', `postgres://leads@/leads?host=${socketDirectory}&port=${port}`, {}],
    ['the second of two hosts', urlOf(address, { host: `127.0.0.1:${deadPort},127.0.0.1` }), {}],
  ])('is reached by %s', async (_way, url, env) => {
    const opened = await open(url, env);
    expect(
      await ask(opened, "SELECT current_user AS user; SELECT current_setting('application_name') AS name"),
    ).toEqual([[{ user: 'leads' }], [{ name: 'leads' }]]);
    expect(opened.pool()).toEqual({ open: 1, busy: 0, waiting: 0, errors: 0 });
  });

  test('gets the options of the URL for each of its sessions', async () => {
    const opened = await open(urlOf(address, { parameters: { options: '-csearch_path=shop' } }));
    expect(await ask(opened, "SELECT current_setting('search_path') AS path")).toEqual([[{ path: 'shop' }]]);
  });

  test.each([
    ['a wrong password', urlOf(address, { password: 'wrong-one' }), 3, 'does not take the password of user'],
    [
      'a wrong password, and a host that is down',
      urlOf(address, { host: `127.0.0.1:${deadPort},127.0.0.1`, password: 'wrong-one' }),
      3,
      'does not take the password of user',
    ],
    [
      'two hosts that are down',
      urlOf(address, { host: `127.0.0.1:${deadPort},127.0.0.1`, port: deadPort }),
      5,
      'connection refused',
    ],
    ['no password', bare, 3, "asks for a password of user 'leads', and none was found"],
    ['a missing database', urlOf(address, { database: 'nothing' }), 3, "has no database 'nothing'"],
    ['no TLS offered', urlOf(address, { parameters: { sslmode: 'require' } }), 3, 'does not offer TLS'],
    ['nobody there', urlOf(address, { port: deadPort }), 5, 'connection refused'],
    ['no socket', 'postgres://leads@/leads?host=/nonexistent', 5, 'there is no socket'],
    ['an unknown host', urlOf(address, { host: 'db.invalid' }), 5, 'the name is not found'],
    [
      'an authority that is not there',
      urlOf(address, { parameters: { sslrootcert: '/nonexistent' } }),
      3,
      'cannot read the sslrootcert',
    ],
  ])('says what is wrong: %s', async (_fault, url, exitCode, message) => {
    const fault: unknown = await inWords(open(url)).catch((error: unknown) => error);
    expect(exitCodeOf({ thrown: fault })).toBe(exitCode);
    expect(fault).toMatchObject({ message: expect.stringContaining(message) as string });
    expect(String(fault)).not.toContain(password);
  });

  test('has a user who may not connect, or finds no room', async () => {
    const database = await newDatabase(address);
    const admin = superuser(address, 'postgres');
    ends.push(() => admin.end());
    await admin.unsafe(`ALTER DATABASE ${database} CONNECTION LIMIT 0`);
    await expect(inWords(open(urlOf(address, { database })))).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('no connection left') as string,
    });
    await admin.unsafe(`REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC, leads`);
    await expect(inWords(open(urlOf(address, { database })))).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('does not let user') as string,
    });
  });

  test('that is read-only is not taken where the URL asks for one that takes writes', async () => {
    const database = await newDatabase(address);
    const admin = superuser(address, 'postgres');
    ends.push(() => admin.end());
    await admin.unsafe(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    const url = (target: string) =>
      urlOf(address, { database, parameters: { target_session_attrs: target } });
    await expect(inWords(open(url('read-write')))).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('is read-only') as string,
    });
    const opened = await open(url('any'));
    await expect(ask(opened, 'CREATE TABLE t ()')).rejects.toThrow(DatabaseUnavailableError);
    await until(() => opened.pool().open === 0);
    await open(url('primary'));
  });

  test('drops a connection whose statement is not answered in time, and goes on with another', async () => {
    const opened = await open(urlOf(address));
    const [[before] = []] = await ask(opened, 'SELECT pg_backend_pid() AS pid');
    await expect(inWords(ask(opened, 'SELECT pg_sleep(60)', 100))).rejects.toThrow(
      'a statement was not answered in 0.1 s',
    );
    const [[after] = []] = await ask(opened, 'SELECT pg_backend_pid() AS pid');
    expect(after).not.toEqual(before);
    expect(opened.pool()).toMatchObject({ open: 1, busy: 0, errors: 1 });
  });

  test('is back after each cut, whenever it comes, without a connection that hangs', async () => {
    const { proxy, url } = await proxied();
    const opened = await open(url, {}, 4);
    for (let round = 0; round < 8; round += 1) {
      const asked = Array.from({ length: 12 }, (_, i) =>
        // Some of them at once with the cut, some while a statement runs, some when a connection was just given back.
        ask(opened, i % 3 === 0 ? 'SELECT 1' : 'SELECT pg_sleep(0.002)').then(
          () => ask(opened, 'SELECT 2'),
          () => ask(opened, 'SELECT 2'),
        ),
      );
      setImmediate(() => proxy.cut());
      for (const end of await Promise.allSettled(asked)) {
        if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(DatabaseUnavailableError);
      }
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(opened, 'SELECT 3 AS n')));
    expect(answers).toEqual(Array.from({ length: 8 }, () => [[{ n: '3' }]]));
  });

  test('that does not answer while a connection is opened is a time-out', async () => {
    const { proxy, url } = await proxied();
    proxy.hold();
    await expect(inWords(open(`${url}?connect_timeout=1`))).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('no answer in 1 s') as string,
    });
  });

  test('lends each connection to one at a time, and counts who waits', async () => {
    const opened = await open(urlOf(address), {}, 1);
    let release: (() => void) | undefined;
    const first = opened.use(() => new Promise<void>((resolve) => (release = resolve)));
    const second = ask(opened, 'SELECT 1 AS n');
    expect(opened.pool()).toMatchObject({ open: 1, busy: 1, waiting: 1 });
    await until(() => release !== undefined);
    release?.();
    await first;
    expect(await second).toEqual([[{ n: '1' }]]);
    expect(opened.pool()).toMatchObject({ open: 1, busy: 0, waiting: 0 });
  });

  test('never lends a connection on which a transaction was left open', async () => {
    const opened = await open(urlOf(address), {}, 1);
    const [[left] = []] = await opened.use((connection) =>
      connection.run(sql`BEGIN; SELECT pg_backend_pid() AS pid`),
    );
    expect(await ask(opened, 'SELECT pg_backend_pid() AS pid')).not.toEqual([[left]]);
    await expect(ask(opened, 'SELECT nothing')).rejects.toMatchObject({ code: '42703' });
    expect(await ask(opened, 'SELECT 1 AS n')).toEqual([[{ n: '1' }]]);
  });
});
