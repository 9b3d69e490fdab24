import { expect, it, onTestFinished } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import type { DatabaseLocation } from '../../../src/inbox/postgres/database-location.ts';
import { openPostgresDriver } from '../../../src/inbox/postgres/driver.ts';
import { DatabaseError, mayBeCausedByData } from '../../../src/inbox/postgres/database-errors.ts';
import { type Row, type Rows, textOf, type Value } from '../../../src/inbox/sql/row.ts';
import { ask, Query, raw, sql, type Start, type Work } from '../../../src/inbox/sql/statement.ts';
import { newDatabase } from '../../support/postgres/address.ts';
import { startPooler } from '../../support/postgres/pgbouncer.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { until } from '../../support/until.ts';
import { describeWithPostgres, inboxIn } from './database.ts';
import { locationOf } from './location.ts';
import { urlOf } from '../../support/postgres/address.ts';

const open = async (location: DatabaseLocation, isReader = false) => {
  const driver = await openPostgresDriver(location, { warn: location.warn, isReader });
  onTestFinished(() => driver.close());
  return driver;
};

/** Rows of `nonces`, which has text, bytes and a number. */
const nonce = (text: string, expires = 1): Value[] => [text, Buffer.from(text), expires];

function* insert(...rows: Value[][]): Work<number> {
  const [added] = yield [{ into: 'nonces', rows }];
  return added?.length ?? -1;
}

describeWithPostgres('the driver of PostgreSQL', (address) => {
  it('makes the schema once, whoever opens it first, and gives the last number and the time to each work', async () => {
    const inbox = inboxIn(address);
    const [driver, other] = await Promise.all([open(inbox.location()), open(inbox.location())]);
    const starts: Start[] = [];
    function* count(start: Start): Work<number> {
      starts.push(start);
      yield [sql`UPDATE @meta SET seq = ${start.seq + 1}`];
      return start.seq;
    }
    const works = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? driver : other).write(count));
    expect((await Promise.all(works)).toSorted((a, b) => a - b)).toEqual(works.map((_, i) => i));
    const bySeq = starts.toSorted((a, b) => a.seq - b.seq).map(({ now }) => now);
    expect(bySeq).toEqual(bySeq.toSorted((a, b) => a - b));
    expect(Math.abs(Date.now() - (bySeq[0] ?? 0))).toBeLessThan(60_000);
    expect(await inbox.query('SELECT version::int, seq::int, length(key) AS key FROM S.meta')).toEqual([
      { version: 1, seq: 20, key: 32 },
    ]);
  });

  it.each([1, 2, 63, 64, 65, 129, 1000])('stores %i rows of every type as they are', async (count) => {
    const driver = await open(inboxIn(address).location());
    const odd = ['$1 ? @meta', "it's", 'back\\slash', '"{,}"', '\u{1f600}', '\n\t'];
    const rows = Array.from({ length: count }, (_, i): Value[] => [
      `${i} ${odd[i % odd.length] ?? ''}`,
      Uint8Array.from([0, 255, i % 256, 92]),
      i % 2 === 0 ? Number.MAX_SAFE_INTEGER - i : -i,
    ]);
    expect(await driver.write(() => insert(...rows))).toBe(0);
    const read = await driver.read(sql`SELECT * FROM @nonces`);
    const key = (row: Row): string => textOf(row['nonce']);
    expect(read.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))).toEqual(
      rows
        .map(([text, digest, expires]) => ({
          nonce: text,
          digest: Buffer.from(digest as Uint8Array),
          expires,
        }))
        .toSorted((a, b) => (key(a as Row) < key(b as Row) ? -1 : 1)),
    );
  });

  it('gives the rows of each statement of a step, in order', async () => {
    const driver = await open(inboxIn(address).location());
    const all = await driver.write(function* (): Work<readonly Rows[]> {
      return yield [
        { into: 'nonces', rows: [] },
        sql`SELECT ${1} + 1 AS sum, ${'a'} AS text, ${Buffer.from('b')} AS bytes, ${null} AS nothing`,
        { into: 'nonces', rows: [nonce('a', 2), nonce('b', 3), nonce('c', 4)] },
        sql`SELECT SUM(expires) AS sum, COUNT(*) AS count, MAX(nonce) > ${'a'} AS is_more FROM @nonces`,
        sql`DELETE FROM @nonces WHERE nonce IN (SELECT value FROM ${driver.dialect.tableOf(['a', 'x'])}) RETURNING nonce`,
      ];
    });
    expect(all).toEqual([
      [],
      [{ sum: 2, text: 'a', bytes: Buffer.from('b'), nothing: null }],
      [],
      [{ sum: 9, count: 3, is_more: true }],
      [{ nonce: 'a' }],
    ]);
  });

  it('stores nothing of a work that fails, and goes on', async () => {
    const driver = await open(inboxIn(address).location());
    const own = new Error('decided so');
    const failed = await Promise.allSettled([
      driver.write(function* () {
        yield* insert(nonce('a'));
        throw own;
      }),
      driver.write(() => insert(nonce('b'), nonce('b'))),
      driver.write(function* () {
        // A step in which one fails in the middle.
        yield [{ into: 'nonces', rows: [nonce('c')] }, raw('SELECT 1 / 0'), sql`SELECT 1`];
      }),
      driver.write(() => insert(['d\0', Buffer.from(''), 1])),
      driver.write(() => insert(['e', Buffer.from(''), 1.5])),
    ]);
    const reasons = failed.map((end): unknown => (end.status === 'rejected' ? end.reason : 'stored'));
    expect(reasons[0]).toBe(own);
    expect(reasons.slice(1).map((reason) => (reason as { readonly code?: string }).code)).toEqual([
      '23505',
      '22012',
      '22021',
      '22P02',
    ]);
    const failures = reasons.map((reason) => driver.writeFailure(reason));
    expect(failures).toMatchObject(reasons.map(() => ({ cause: 'data', mayBeStored: false })));
    expect(JSON.stringify(reasons, Object.getOwnPropertyNames(new Error()))).not.toContain('(b)');
    expect(await driver.read(sql`SELECT nonce FROM @nonces`)).toEqual([]);
    await driver.write(() => insert(nonce('f')));
    expect(await driver.read(sql`SELECT nonce FROM @nonces`)).toEqual([{ nonce: 'f' }]);
  });

  it('begins a work anew that meets others', async () => {
    const inbox = inboxIn(address);
    const driver = await open(inbox.location());
    await inbox.query(`CREATE SEQUENCE S.tries; GRANT ALL ON S.tries TO leads`);
    await inbox.query(`CREATE FUNCTION S.abort() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE n int := nextval('S.tries'); BEGIN
      IF n = 1 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF;
      IF n = 2 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END IF;
      RETURN NULL; END $$`);
    await inbox.query(`CREATE TRIGGER abort AFTER INSERT ON S.nonces EXECUTE FUNCTION S.abort()`);
    let begun = 0;
    await driver.write(() => {
      begun += 1;
      return insert(nonce(`a${begun}`));
    });
    expect(begun).toBe(3);
    expect(await driver.read(sql`SELECT nonce FROM @nonces`)).toEqual([{ nonce: 'a3' }]);
  });

  it('waits until the database ends the session of a receiver that hangs in a transaction', async () => {
    const inbox = inboxIn(address);
    const [driver, other] = [await open(inbox.location()), await open(inbox.location())];
    const proxied = await TcpProxy.start(address);
    onTestFinished(() => proxied.stop());
    const hanging = await open(inbox.location({ port: proxied.port }));
    const hung = hanging.write(function* () {
      yield* insert(nonce('a'));
      yield* ask(sql`SELECT 1`);
      proxied.hold();
      yield* ask(sql`SELECT 1`);
    });
    hung.catch(() => undefined);
    await until(
      async () =>
        (await inbox.client`SELECT FROM pg_stat_activity WHERE state = 'idle in transaction'`).length > 0,
    );
    await Promise.all([driver.write(() => insert(nonce('b'))), other.write(() => insert(nonce('c')))]);
    expect(await driver.read(sql`SELECT nonce FROM @nonces`)).toHaveLength(2);
    proxied.cut();
    await expect(hung).rejects.toThrow();
  });

  it('goes on by itself when its connections were cut', async () => {
    const inbox = inboxIn(address);
    const proxy = await TcpProxy.start(address);
    onTestFinished(() => proxy.stop());
    const driver = await open(inbox.location({ port: proxy.port }));
    for (let round = 0; round < 5; round += 1) {
      proxy.cut();
      await driver.write(() => insert(nonce(`a${round}`)));
      await driver
        .write(function* () {
          yield* insert(nonce(`b${round}`));
          if (round === 2) proxy.cut();
          yield* ask(sql`SELECT 1`);
        })
        .catch((error: unknown) => expect(driver.writeFailure(error).error).toBeInstanceOf(CannotStoreError));
    }
    const rows = await driver.read(sql`SELECT nonce FROM @nonces WHERE nonce LIKE ${'a%'}`);
    expect(rows).toHaveLength(5);
  });

  it('writes to the second host once the first one takes no writes any more', async () => {
    const database = await newDatabase(address);
    const inbox = inboxIn(address, { database });
    const proxies = [await TcpProxy.start(address), await TcpProxy.start(address)];
    onTestFinished(async () => {
      for (const proxy of proxies) await proxy.stop();
    });
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const url = `postgres://leads:${address.password}@${hosts}/${database}?target_session_attrs=read-write`;
    const driver = await open(locationOf(url));
    await driver.write(() => insert(nonce('a')));
    await proxies[0]?.stop();
    proxies.shift();
    await driver.write(() => insert(nonce('b')));
    await inbox.client.unsafe(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    proxies[0]?.cut();
    await expect(driver.write(() => insert(nonce('c')))).rejects.toThrow(/connection refused.*read-only/s);
    await inbox.client.unsafe(`ALTER DATABASE ${database} RESET default_transaction_read_only`);
    await driver.write(() => insert(nonce('d')));
    expect(await driver.read(sql`SELECT nonce FROM @nonces`)).toHaveLength(3);
  });

  it('works behind a pooler that gives each transaction another connection', async () => {
    const pooler = await startPooler(address, 3);
    if (pooler === undefined) return;
    onTestFinished(() => pooler.stop());
    const location = inboxIn(address).location({ port: pooler.port });
    const [driver, other] = [await open(location), await open(location)];
    const works = Array.from({ length: 60 }, async (_, i) => {
      const one = i % 2 === 0 ? driver : other;
      if (i % 3 !== 0) await one.write(() => insert(nonce(`a${i}`), nonce(`b${i}`), nonce(`c${i}`)));
      else await one.read(sql`SELECT nonce, digest FROM @nonces WHERE expires >= ${0} AND nonce <> ${'x'}`);
    });
    await Promise.all(works);
    expect(await driver.read(sql`SELECT nonce FROM @nonces`)).toHaveLength(120);
    expect(pooler.log()).not.toMatch(/ERROR|FATAL|unsupported startup parameter/);
  });

  it('has room once as much as a delivery may have fits on a disk that was full', async () => {
    const inbox = inboxIn(address);
    const driver = await open(inbox.location());
    await inbox.query(`CREATE TABLE S.fillers (bytes int8); CREATE FUNCTION S.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        AS $$ BEGIN INSERT INTO S.fillers VALUES (octet_length(NEW.filler)); RETURN NULL; END $$;
      CREATE TRIGGER note AFTER UPDATE ON S.write_checks FOR EACH ROW EXECUTE FUNCTION S.note()`);
    await inbox.query(`CREATE FUNCTION S.fail() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''no space'' USING ERRCODE = ''53100''; END';
      CREATE TRIGGER full_disk BEFORE INSERT ON S.nonces FOR EACH STATEMENT EXECUTE FUNCTION S.fail()`);
    const fillers = async () =>
      (await inbox.query('SELECT bytes::int FROM S.fillers')).map((row) => row['bytes'] as unknown);
    await driver.checkWritable();
    expect(await fillers()).toEqual([]);
    await expect(driver.write(() => insert(nonce('a')))).rejects.toMatchObject({ code: '53100' });
    await inbox.query('ALTER TABLE S.write_checks RENAME COLUMN filler TO other');
    await expect(driver.checkWritable()).rejects.toMatchObject({ code: '42703' });
    await inbox.query('ALTER TABLE S.write_checks RENAME COLUMN other TO filler');
    await driver.checkWritable();
    await driver.checkWritable();
    expect(await fillers()).toEqual([1.5 * 1024 * 1024, null]);
  });

  it('overwrites what was deleted, and says where it may not', async () => {
    const inbox = inboxIn(address);
    const driver = await open(inbox.location());
    const always = [/write-ahead log/, /still sees/, /VACUUM FULL/].map(
      (text) => expect.stringMatching(text) as string,
    );
    expect(await driver.overwrite()).toEqual({ remains: undefined, outOfReach: always });
    await expect
      .poll(async () => {
        const rows = await inbox.query(
          `SELECT relname FROM pg_stat_all_tables WHERE relid IN ('S.deliveries'::regclass, 'S.results'::regclass)
            AND vacuum_count > 0`,
        );
        return rows.length;
      })
      .toBe(2);
    await inbox.query('ALTER TABLE S.leads OWNER TO CURRENT_USER');
    expect(await driver.overwrite()).toEqual({
      remains: undefined,
      outOfReach: [expect.stringContaining('only the owner') as string, ...always],
    });
  });

  it('that only reads makes no schema, and finds one that is there', async () => {
    const inbox = inboxIn(address);
    await expect(open(inbox.location(), true)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('there is no inbox in') as string,
    });
    expect(await inbox.query(`SELECT FROM pg_namespace WHERE nspname = '${inbox.name}'`)).toEqual([]);
    await open(inbox.location());
    const reader = await open(inbox.location(), true);
    await reader.changeMark();
    await inbox.query('DROP TABLE S.deliveries');
    await expect(reader.changeMark()).rejects.toMatchObject({ cause: { code: '42P01' } });
  });

  it('takes no inbox of another version', async () => {
    const inbox = inboxIn(address);
    await open(inbox.location());
    await inbox.query('UPDATE S.meta SET version = 2');
    await expect(open(inbox.location())).rejects.toMatchObject({
      message: expect.stringContaining('newer version') as string,
    });
  });

  it('takes a name of a schema as it is', async () => {
    const odd = 'my"quoted"s$1.?@x';
    const { client } = inboxIn(address);
    const driver = await open(locationOf(urlOf(address, { parameters: { schema: odd } })));
    onTestFinished(async () => {
      await client.unsafe(`DROP SCHEMA "my""quoted""s$1.?@x" CASCADE`);
    });
    await driver.write(() => insert(nonce('a')));
    expect(await driver.read(new Query('SELECT nonce FROM @nonces'))).toEqual([{ nonce: 'a' }]);
  });
});

it.each([
  ['a damaged page', 'XX001', true],
  ['a trigger of the operator', 'P0001', true],
  ['a constraint of the operator', '23514', true],
  ['a cut connection', 'ECONNRESET', false],
  ['a connection that the server closed', 'EPIPE', false],
  ['a missing right', '42501', false],
  ['a full disk', '53100', false],
  ['a lock', '55P03', false],
  ['a statement that takes too long', '57014', false],
] as const)('%s (%s) may leave the other deliveries of a batch: %s', (_, code, isLeft) => {
  const error = /\d/.test(code)
    ? new DatabaseError('failed', code)
    : Object.assign(new Error('failed'), { code });
  expect(mayBeCausedByData(error)).toBe(isLeft);
});
