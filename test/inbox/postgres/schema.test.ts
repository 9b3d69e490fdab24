import { inWords } from '../../support/in-words.ts';
import { describeWarning } from '../../../src/messages/command-line.ts';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { openInboxReader } from '../../../src/inbox/open-inbox.ts';
import { connect } from '../../../src/inbox/postgres/connection/connect.ts';
import { DatabaseUnavailableError } from '../../../src/inbox/postgres/connection/database-errors.ts';
import { checkServer } from '../../../src/inbox/postgres/open-schema.ts';
import { migrate, monthOf, plannedMigration } from '../../../src/inbox/postgres/migrate.ts';
import { migrations } from '../../../src/inbox/postgres/migrations.ts';
import { identifier } from '../../../src/inbox/postgres/sql.ts';
import { FakeClock } from '../../support/clock.ts';
import { newDatabase, urlOf } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { clock, open, takeOne, takeStored } from '../stores.ts';
import { all, arrivalOf, deliveryOf } from '../support.ts';
import { inboxIn } from './database.ts';
import { locationOf } from './location.ts';

const shared = await sharedPostgres();

describe.skipIf(shared === undefined)('the schema of an inbox on PostgreSQL', () => {
  const address = shared ?? { version: 0, port: 0, socketDirectory: '', password: '' };

  async function withConnection<T>(
    inbox: ReturnType<typeof inboxIn>,
    use: Parameters<Awaited<ReturnType<typeof connect>>['use']>[0],
  ): Promise<T> {
    const connections = await connect(inbox.location());
    try {
      return (await connections.use(use)) as T;
    } finally {
      await connections.close();
    }
  }

  /** A role that may write the inbox and change none of its tables. */
  async function receiverRole(inbox: ReturnType<typeof inboxIn>): Promise<string> {
    const role = `role_${inbox.name}`;
    await inbox.client.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${address.password}'`);
    await inbox.client.unsafe(`GRANT USAGE ON SCHEMA "${inbox.name}" TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${inbox.name}" TO ${role};
      GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "${inbox.name}" TO ${role}`);
    return role;
  }

  it('is made once by programs that start at the same moment', async () => {
    const inbox = inboxIn(address);
    const inboxes = await Promise.all(Array.from({ length: 3 }, () => open(inbox.location())));
    for (const [i, one] of inboxes.entries()) await takeOne(one, arrivalOf({ id: `l${i}` }));
    const [first] = inboxes;
    expect(first && (await all(first.leads({})))).toHaveLength(3);
    expect(await inbox.query('SELECT version FROM S.meta')).toEqual([{ version: 4 }]);
  });

  it('that got another name is not used: its functions would write into the inbox that has its name now', async () => {
    const inbox = inboxIn(address);
    await open(inbox.location());
    const renamed = `${inbox.name}_old`;
    await inbox.client.unsafe(`ALTER SCHEMA "${inbox.name}" RENAME TO "${renamed}"`);
    await expect(open(locationOf(urlOf(address, { parameters: { schema: renamed } })))).rejects.toMatchObject(
      {
        problem: { kind: 'inbox-schema-renamed', schema: `"${renamed}"` },
      },
    );
  });

  it('whose functions a role may not execute is not opened by it, and says which', async () => {
    const inbox = inboxIn(address);
    await open(inbox.location());
    const user = await receiverRole(inbox);
    await inbox.query('REVOKE EXECUTE ON FUNCTION S.store_1 FROM PUBLIC');
    await expect(open(inbox.location({ user }))).rejects.toMatchObject({
      problem: { kind: 'inbox-right-missing', type: 'function', name: 'store_1' },
    });
  });

  it.each([
    ['53100', DatabaseUnavailableError],
    ['58030', DatabaseUnavailableError],
    ['42501', ConfigError],
  ])('that cannot be written at the start for %s is waited for, or is not', async (code, expected) => {
    const inbox = inboxIn(address);
    await open(inbox.location());
    await inbox.query(`CREATE FUNCTION S.fail() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''no'' USING ERRCODE = TG_ARGV[0]; END';
      CREATE TRIGGER fails BEFORE INSERT ON S.targets EXECUTE FUNCTION S.fail('${code}')`);
    await expect(open(inbox.location(), { targets: ['t'] })).rejects.toThrow(expected);
  });

  it('is what the planned statements make, and then there is nothing to do', async () => {
    const inbox = inboxIn(address);
    const schema = identifier(inbox.name);
    const options = { schema, now: clock.now() };
    const planned = await withConnection<string>(inbox, (connection) =>
      plannedMigration(connection, options),
    );
    expect(await inbox.client`SELECT FROM pg_namespace WHERE nspname = ${inbox.name}`).toHaveLength(0);
    const connection = await inbox.client.reserve();
    await connection.unsafe(`SET ROLE leads; ${planned} RESET ROLE`);
    connection.release();
    expect(await withConnection(inbox, (connection) => plannedMigration(connection, options))).toBe('');
    expect(await withConnection(inbox, (connection) => migrate(connection, options))).toEqual({
      from: 4,
      to: 4,
      months: [],
      lacking: [],
    });
    expect(await takeOne(await open(inbox.location()), arrivalOf({ id: 'a' }))).toMatchObject({
      kind: 'accepted',
    });
  });

  it('says which partition lacks an index, since somebody read it all the while', async () => {
    const inbox = inboxIn(address);
    await open(inbox.location());
    const columns = migrations.flatMap(({ index }) => index?.columns ?? [])[0] ?? '';
    await inbox.query(`DROP INDEX S.counted; CREATE INDEX counted ON ONLY S.deliveries (${columns});
      ALTER TABLE S.deliveries OWNER TO leads; CREATE INDEX deliveries_default_counted ON S.deliveries_default (${columns});
      ALTER TABLE S.deliveries_default OWNER TO leads;
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'S.deliveries_default_counted'::regclass`);
    const upToDate = () =>
      withConnection(inbox, (connection) =>
        migrate(connection, { schema: identifier(inbox.name), now: clock.now() }),
      );
    await inbox.client.begin(async (reading) => {
      await reading.unsafe(`SELECT FROM "${inbox.name}".deliveries_default`);
      expect(await upToDate()).toMatchObject({ lacking: ['deliveries_default'] });
    });
    expect(await upToDate()).toMatchObject({ lacking: [] });
  });

  it('has an index made by one of two programs that bring it up to date at the same moment', async () => {
    const inbox = inboxIn(address);
    await open(inbox.location());
    const columns = migrations.flatMap(({ index }) => index?.columns ?? [])[0] ?? '';
    // As it is once the step is done.
    await inbox.query(`DROP INDEX S.counted; CREATE INDEX counted ON ONLY S.deliveries (${columns});
      ALTER TABLE S.deliveries OWNER TO leads`);
    const upToDate = () =>
      withConnection(inbox, (connection) =>
        migrate(connection, { schema: identifier(inbox.name), now: clock.now() }),
      );
    const { first } = await inbox.client.begin(async (writing) => {
      await writing.unsafe(`LOCK TABLE "${inbox.name}".deliveries_default IN ROW EXCLUSIVE MODE`);
      const first = upToDate();
      const isMaking = `SELECT FROM pg_stat_progress_create_index WHERE relid = 'S.deliveries_default'::regclass`;
      await until(async () => (await inbox.query(isMaking)).length > 0, 'the first program');
      let isDone = false;
      const second = upToDate().finally(() => (isDone = true));
      await until(() => isDone, 'the second program');
      await second;
      return { first };
    });
    await first;
    const made = await inbox.query(
      `SELECT indisvalid FROM pg_index WHERE indexrelid IN (SELECT 'S.counted'::regclass
        UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = 'S.counted'::regclass)`,
    );
    expect(made).toEqual(Array.from({ length: 6 }, () => ({ indisvalid: true })));
  });

  it('is refused when it is newer, missing, or not written to the log', async () => {
    const inbox = inboxIn(address);
    await expect(openInboxReader({ location: inbox.location(), clock })).rejects.toThrow(ConfigError);
    await open(inbox.location());
    await inbox.query('ALTER TABLE S.nonces SET UNLOGGED');
    await expect(inWords(open(inbox.location()))).rejects.toThrow(/nonces .* unlogged/);
    await inbox.query('ALTER TABLE S.nonces SET LOGGED');
    // PostgreSQL 14 has no unlogged sequence.
    if (address.version >= 15) {
      await inbox.query('ALTER SEQUENCE S.delivery_numbers SET UNLOGGED');
      await expect(inWords(open(inbox.location()))).rejects.toMatchObject({
        message: expect.stringContaining('sequence delivery_numbers') as unknown,
        hint: `ALTER SEQUENCE ${inbox.name}.delivery_numbers SET LOGGED`,
      });
      await inbox.query('ALTER SEQUENCE S.delivery_numbers SET LOGGED');
    }
    // A newer release may add to it; only what it says is too old is refused.
    await inbox.query('UPDATE S.meta SET version = 7');
    await takeOne(await open(inbox.location()), arrivalOf({ id: 'a' }));
    await inbox.query('UPDATE S.meta SET writable_from = 7');
    await expect(inWords(open(inbox.location()))).rejects.toThrow(/newer version/);
    await expect(inWords(openInboxReader({ location: inbox.location(), clock }))).rejects.toThrow(
      /newer version/,
    );
  });

  it('is not made by a role that may not, which is shown the way', async () => {
    const database = await newDatabase(address);
    const inbox = inboxIn(address, { database });
    const role = `role_${inbox.name}`;
    await inbox.client.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${address.password}'`);
    const refused = open(inbox.location({ user: role }));
    await expect(inWords(refused)).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining('leads inbox migrate') as unknown,
    });
  });

  it.each([
    [
      'the sequence delivery_numbers',
      'USAGE, SELECT ON ALL SEQUENCES',
      'SELECT ON SEQUENCE S.delivery_numbers',
    ],
    ['the table ids', 'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES', 'UPDATE ON S.ids'],
  ])('is not opened to write by a role that may not use %s', async (object, grant, revoked) => {
    const inbox = inboxIn(address);
    await open(inbox.location());
    const user = await receiverRole(inbox);
    await inbox.query(`REVOKE ${revoked} FROM ${user}`);
    await expect(inWords(open(inbox.location({ user })))).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`the role ${user} may not use ${object}`) as unknown,
      hint: `GRANT ${grant} IN SCHEMA "${inbox.name}" TO ${user}`,
    });
    await inbox.client.unsafe(`GRANT ${grant} IN SCHEMA "${inbox.name}" TO ${user}`);
    await takeOne(await open(inbox.location({ user })), arrivalOf({ id: 'a' }));
    await inbox.client.unsafe(`DROP OWNED BY ${user}`);
  });

  it('takes leads where a month has no partition and the role may make none, and says so once', async () => {
    const inbox = inboxIn(address);
    const owner = await open(inbox.location());
    for (let i = 0; i <= 3; i += 1) {
      const { name } = monthOf(clock.now(), i);
      await inbox.query(`DROP TABLE S.deliveries_${name}, S.contents_${name}`);
    }
    const user = await receiverRole(inbox);
    const warnings: string[] = [];
    const receiver = await open(inbox.location({ user }), {
      warn: (found) => warnings.push(describeWarning(found)),
    });
    const now = (id: string) =>
      arrivalOf({ id }, { delivery: deliveryOf(`{"id":"${id}"}`, { receivedAt: clock.now() }) });
    expect(await takeOne(receiver, now('late'))).toMatchObject({ kind: 'accepted' });
    expect(warnings).toEqual([expect.stringContaining('partitions')]);
    // Who may makes them later, and what came meanwhile is moved.
    await open(inbox.location());
    expect(
      await inbox.query(`SELECT tableoid::regclass::text LIKE '%2026_01' AS is_moved FROM S.deliveries`),
    ).toEqual([{ is_moved: true }]);
    expect(await takeOne(owner, now('late'))).toMatchObject({ kind: 'duplicate' });
    expect(await all(receiver.leads({}))).toHaveLength(1);
    await inbox.client.unsafe(`DROP OWNED BY ${user}`);
  });

  it('loses a whole month as a partition, but nothing that is outstanding', async () => {
    const inbox = inboxIn(address);
    const receiver = await open(inbox.location(), { targets: ['t'] });
    const at = (id: string, receivedAt: number) =>
      arrivalOf({ id }, { delivery: deliveryOf(`{"id":"${id}"}`, { receivedAt }) });
    const start = monthOf(clock.now()).start;
    const stored = await Promise.all(['a', 'b'].map((id, i) => takeStored(receiver, at(id, start + i))));
    const body = '[{"id":"c"},{"id":"d"}]';
    const delivery = deliveryOf(body, { receivedAt: start + 5 });
    await receiver.take([
      { leadId: 'c', delivery, place: { start: 1, end: 11 } },
      { leadId: 'd', delivery, place: { start: 12, end: 22 } },
    ]);
    await receiver.settle(stored.map((one) => ({ ...one, target: 't' })));
    const next = monthOf(clock.now(), 1);
    await takeStored(receiver, at('next', next.start));
    const tables = () =>
      inbox.query(`SELECT FROM pg_tables WHERE schemaname = '${inbox.name}' AND tablename ~ '_2026_01'`);
    expect(await tables()).toHaveLength(2);
    expect(await receiver.prune(next.start)).toBe(2);
    expect(await tables()).toHaveLength(0);
    expect((await all(receiver.list({}))).map(({ leadId }) => leadId)).toEqual(['next', 'd', 'c']);
    const leads = await all(receiver.leads({ states: ['pending'] }));
    expect(leads.map(({ body }) => Buffer.from(body).toString())).toEqual([
      '{"id":"c"}',
      '{"id":"d"}',
      '{"id":"next"}',
    ]);
    expect(await takeOne(receiver, at('a', next.start))).toMatchObject({ kind: 'duplicate' });
  });

  it('gets the partitions of the next months while a receiver runs', async () => {
    const inbox = inboxIn(address);
    const time = new FakeClock(Date.UTC(2026, 0, 31));
    const receiver = await open(inbox.location(), { clock: time });
    time.advance(86_400_000);
    await takeOne(receiver, arrivalOf({ id: 'a' }));
    const added = () =>
      inbox.query(`SELECT FROM pg_tables WHERE schemaname = '${inbox.name}' AND tablename ~ '_2026_05'`);
    await expect.poll(added).toHaveLength(2);
  });

  it('says why partitions of the next months cannot be made', async () => {
    const inbox = inboxIn(address);
    const time = new FakeClock(Date.UTC(2026, 0, 31));
    const warnings: string[] = [];
    const receiver = await open(inbox.location(), {
      clock: time,
      warn: (found) => warnings.push(describeWarning(found)),
    });
    await inbox.query('CREATE TABLE S.deliveries_2026_05 ()');
    time.advance(86_400_000);
    expect(await takeOne(receiver, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
    await expect
      .poll(() => warnings)
      .toEqual([expect.stringMatching(/no partitions .*"deliveries_2026_05" already exists/)]);
  });

  it('is not opened on a server that would lose what it acknowledged', async () => {
    const server = (fsync: string, number: number) => ({
      host: '',
      run: () => Promise.resolve([[{ number, version: String(number), fsync, full_page_writes: 'off' }]]),
    });
    const warnings: string[] = [];
    const check = (fsync: string, number: number) =>
      checkServer(server(fsync, number), locationOf('postgres://u@localhost/x'), (found) =>
        warnings.push(describeWarning(found)),
      );
    await expect(inWords(check('off', 140_000))).rejects.toThrow(/fsync=off/);
    await expect(check('on', 130_009)).rejects.toThrow(ConfigError);
    await check('on', 140_000);
    expect(warnings).toHaveLength(1);
  });
});
