import { exitCodeOf } from '../../../src/exit-codes.ts';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { DatabaseUnavailableError } from '../../../src/inbox/postgres/database-errors.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { newDatabase, newSchema, superuser, urlOf } from '../../support/postgres/address.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { until } from '../../support/until.ts';
import { renewCredentials } from '../../../src/inbox/postgres/open-session.ts';
import { SessionPool } from '../../../src/inbox/postgres/session-pool.ts';
import type { Rows } from '../../../src/inbox/sql/row.ts';
import { Query } from '../../../src/inbox/sql/statement.ts';
import { describeWithPostgres } from './database.ts';
import { locationOf } from './location.ts';
import { openServer } from '../../support/open-server.ts';

const deadPort = await freePort();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(url: string, env: Record<string, string> = {}, most?: number): Promise<SessionPool> {
  const pool = new SessionPool(locationOf(url, { env }), most);
  ends.push(() => pool.close());
  await pool.use(() => Promise.resolve());
  return pool;
}

/** A connection that somebody has until the result is called. */
async function held(pool: SessionPool): Promise<() => Promise<void>> {
  let end: (() => void) | undefined;
  const use = pool.use(() => new Promise<void>((resolve) => (end = resolve)));
  await until(() => end !== undefined);
  return () => {
    end?.();
    return use;
  };
}

const ask = async (pool: SessionPool, text: string, answerMs?: number): Promise<Rows> => {
  const [rows = []] = await pool.use((session) => session.run([new Query(text)], answerMs));
  return rows;
};

const pidOf = async (pool: SessionPool): Promise<unknown> =>
  (await ask(pool, 'SELECT pg_backend_pid() AS pid'))[0]?.['pid'];

describeWithPostgres('a database', (address) => {
  const { password, port, socketDirectory } = address;
  const bare = urlOf(address, { password: '' });
  /** Resolves when the server has ended the session that had this number. */
  const ended = async (pid: unknown): Promise<void> => {
    const admin = superuser(address);
    ends.push(() => admin.end());
    const isThere = async () =>
      (await admin`SELECT FROM pg_stat_activity WHERE pid = ${Number(pid)}`).length > 0;
    await until(async () => !(await isThere()));
  };
  const proxied = async () => {
    const proxy = await TcpProxy.start(address);
    ends.push(() => proxy.stop());
    return { proxy, url: urlOf(address, { port: proxy.port }) };
  };
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
      await ask(opened, "SELECT current_user AS user, current_setting('application_name') AS name"),
    ).toEqual([{ user: 'leads', name: 'leads' }]);
  });

  test('gets the options of the URL for each of its sessions', async () => {
    const opened = await open(urlOf(address, { parameters: { options: '-csearch_path=shop' } }));
    expect(await ask(opened, "SELECT current_setting('search_path') AS path")).toEqual([{ path: 'shop' }]);
  });

  test.each([
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
    ['an unknown host', urlOf(address, { host: 'db.invalid' }), 5, 'the name is not found'],
    [
      'an authority that is not there',
      urlOf(address, { parameters: { sslrootcert: '/nonexistent' } }),
      3,
      'cannot read the sslrootcert',
    ],
  ])('says what is wrong: %s', async (_fault, url, exitCode, message) => {
    const fault: unknown = await open(url).catch((error: unknown) => error);
    expect(exitCodeOf({ thrown: fault })).toBe(exitCode);
    expect(fault).toMatchObject({ message: expect.stringContaining(message) as string });
    expect(String(fault)).not.toContain(password);
  });

  test('that is read-only is not taken where the URL asks for one that takes writes', async () => {
    const database = await newDatabase(address);
    const admin = superuser(address, 'postgres');
    ends.push(() => admin.end());
    await admin.unsafe(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    const url = (target: string) =>
      urlOf(address, { database, parameters: { target_session_attrs: target } });
    await expect(open(url('read-write'))).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('is read-only') as string,
    });
    const opened = await open(url('any'));
    const before = await pidOf(opened);
    await expect(ask(opened, 'CREATE TABLE t ()')).rejects.toThrow(DatabaseUnavailableError);
    await ended(before);
    await open(url('primary'));
  });

  test('drops a connection whose statement is not answered in time, and goes on with another', async () => {
    const opened = await open(urlOf(address));
    const before = await pidOf(opened);
    await expect(ask(opened, 'SELECT pg_sleep(60)', 100)).rejects.toThrow(
      'a statement was not answered in 0.1 s',
    );
    expect(await pidOf(opened)).not.toEqual(before);
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
    expect(answers).toEqual(Array.from({ length: 8 }, () => [{ n: 3 }]));
  });

  test('lends each connection to one at a time', async () => {
    const opened = await open(urlOf(address), {}, 1);
    const release = await held(opened);
    let isReleased = false;
    const second = opened.use(() => Promise.resolve(isReleased));
    await systemClock.sleep(50);
    isReleased = true;
    await release();
    expect(await second).toBe(true);
  });

  test.each(['reset', 'ended'] as const)(
    'fails every statement of a pipeline when its connection is %s',
    async (how) => {
      const { proxy, url } = await proxied();
      const opened = await open(url);
      proxy.hold();
      // The first is described before it runs, and the others wait for that.
      const statements = [1, 2, 3, 4].map((n) => new Query(`SELECT $1::text AS t${n}`, ['x']));
      let isSent = false;
      const running = opened.use((session) => {
        isSent = true;
        return session.run(statements);
      });
      await until(() => isSent);
      proxy.cut(how);
      await expect(running).rejects.toThrow(DatabaseUnavailableError);
      proxy.resume();
      expect(await ask(opened, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    },
  );

  test('keeps who waits for a connection no longer than 5 s', async () => {
    const opened = await open(urlOf(address), {}, 1);
    const release = await held(opened);
    await expect(ask(opened, 'SELECT 1')).rejects.toThrow(/1 connection.* 5 s/);
    await release();
  });

  test('lets nobody wait once it is closed', async () => {
    const opened = await open(urlOf(address), {}, 1);
    const pid = await pidOf(opened);
    const release = await held(opened);
    const second = ask(opened, 'SELECT 1');
    const closed = expect(second).rejects.toThrow('are closed');
    await opened.close();
    await closed;
    await expect(ask(opened, 'SELECT 1')).rejects.toThrow('are closed');
    await release();
    await ended(pid);
  });

  test('gets the user and the password of another URL while it is in use, once they are let in', async () => {
    const user = newSchema();
    const admin = superuser(address);
    ends.push(() => admin.end());
    await admin.unsafe(`CREATE ROLE ${user} LOGIN PASSWORD 'the-next-password'`);
    const location = locationOf(urlOf(address));
    const pool = new SessionPool(location, 2);
    ends.push(() => pool.close());
    const whoami = async (): Promise<unknown> =>
      (await ask(pool, 'SELECT current_user::text AS name'))[0]?.['name'];
    expect(await whoami()).toBe('leads');
    const former = await pidOf(pool);
    await expect(
      renewCredentials(location, urlOf(address, { user, password: 'wrong' })),
    ).rejects.toMatchObject({
      code: 'config',
    });
    expect(await whoami()).toBe('leads');
    await expect(renewCredentials(location, urlOf(address, { database: 'other' }))).rejects.toMatchObject({
      message: expect.stringContaining('differs in more than user and password') as string,
    });
    const next = urlOf(address, { user, password: 'the-next-password' });
    expect(await renewCredentials(location, next)).toBe(true);
    expect(await renewCredentials(location, next)).toBe(false);
    expect(await whoami()).toBe(user);
    await ended(former);
  });

  test('reads the password file anew for each connection', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'leads-pgpass-')), 'pass');
    const write = (text: string) => writeFileSync(file, `*:*:*:leads:${text}\n`, { mode: 0o600 });
    write(password);
    const opened = await open(bare, { PGPASSFILE: file });
    write('another-one');
    const held = opened.use(() => expect(ask(opened, 'SELECT 1')).rejects.toThrow('does not take'));
    await held;
    write(password);
    await opened.use(() => ask(opened, 'SELECT 1'));
  });

  test('is not disturbed by variables of PostgreSQL that libpq reads, or that only the library knows', async () => {
    const variables = {
      PGTARGETSESSIONATTRS: 'any',
      PGHOST: 'db.invalid',
      PGPORT: '1',
      PGUSER: 'nobody',
      PGDATABASE: 'nothing',
      PGPASSWORD: 'wrong',
      PGSSL: 'require',
      PGSSLNEGOTIATION: 'direct',
      PGPREPARE: 'false',
      PGDEBUG: 'true',
      PGFETCH_TYPES: 'true',
      PGCONNECT_TIMEOUT: '0.001',
      PGMAX_LIFETIME: '0.001',
    };
    const before = { ...process.env };
    Object.assign(process.env, variables);
    try {
      for (const target of ['any', 'primary', 'read-write']) {
        const opened = await open(urlOf(address, { parameters: { target_session_attrs: target } }));
        expect(await ask(opened, 'SELECT current_user::text AS name')).toEqual([{ name: 'leads' }]);
      }
    } finally {
      for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
      Object.assign(process.env, before);
    }
  });
});

describe('something that is no database', () => {
  /** The URL of a server that does that with each connection. */
  async function serve(handle: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      handle(socket);
    });
    const opened = await openServer(server);
    ends.push(() => new Promise((resolve) => server.close(resolve)));
    return `postgres://leads:secret@127.0.0.1:${opened.port}/leads?connect_timeout=1`;
  }

  test.each([
    [
      'closes once it was spoken to',
      (socket: Socket) => socket.once('data', () => socket.end()),
      'closed the',
    ],
    [
      'resets the connection',
      (socket: Socket) => socket.once('data', () => socket.resetAndDestroy()),
      'ECONNRESET',
    ],
    [
      'speaks HTTP',
      (socket: Socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'cannot be reached',
    ],
    ['says nothing', (socket: Socket) => socket.resume(), 'no answer in 1 s'],
  ])('%s: it is asked once, and said to be unreachable', async (_fault, handle, message) => {
    let asked = 0;
    const url = await serve((socket) => {
      asked += 1;
      handle(socket);
    });
    await expect(open(url)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining(message) as string,
    });
    expect(asked).toBe(1);
  });

  test('proves not that it knows the password: it is not trusted', async () => {
    const message = (type: number, text: string): Buffer => {
      const content = Buffer.concat([Buffer.from([0, 0, 0, type]), Buffer.from(text)]);
      const length = Buffer.alloc(4);
      length.writeInt32BE(content.length + 4);
      return Buffer.concat([Buffer.from('R'), length, content]);
    };
    const url = await serve((socket) => {
      // PostgreSQL, "SASL Authentication": one answer to each message of the client.
      const answers = [
        () => message(10, 'SCRAM-SHA-256\0\0'),
        (asked: string) => message(11, `r=${/r=(.*)$/.exec(asked)?.[1] ?? ''}more,s=c2FsdA==,i=4096`),
        () => message(12, `v=${Buffer.alloc(32).toString('base64')}`),
      ];
      socket.on('data', (bytes) => {
        const answer = answers.shift();
        if (answer !== undefined) socket.write(answer(bytes.toString()));
      });
    });
    await expect(open(url)).rejects.toThrow('does not prove that it knows the password');
  });
});
