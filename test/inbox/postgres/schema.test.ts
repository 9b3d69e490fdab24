import { expect, it, vi } from 'vitest';
import { ConfigError, noteText } from '../../../src/errors.ts';
import { DatabaseUnavailableError } from '../../../src/inbox/postgres/database-errors.ts';
import { checkServer } from '../../../src/inbox/postgres/check-server.ts';
import { createSchema, schemaStatements } from '../../../src/inbox/postgres/database-schema.ts';
import { withSession } from '../../../src/inbox/postgres/open-session.ts';
import { Session } from '../../../src/inbox/postgres/session.ts';
import { Query } from '../../../src/inbox/sql/statement.ts';
import { newDatabase, urlOf } from '../../support/postgres/address.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf } from '../support.ts';
import { describeWithPostgres, inboxIn } from './database.ts';
import { locationOf } from './location.ts';

const serverWait = "SELECT setting::int4 AS ms FROM pg_settings WHERE name = 'lock_timeout'";

describeWithPostgres('the schema of an inbox on PostgreSQL', (address) => {
  it('is waited for by the server as long as by the program', async () => {
    const inbox = inboxIn(address);
    const waits: unknown[] = [];
    await withSession(inbox.location(), async (session) => {
      const run = session.run.bind(session);
      vi.spyOn(session, 'run').mockImplementation(async (statements, answerMs) => {
        if (statements[0]?.text.includes('pg_advisory_xact_lock') === true) {
          const [rows] = await run([new Query(serverWait)]);
          waits.push(rows?.[0]?.['ms'], answerMs);
        }
        return run(statements, answerMs);
      });
      await createSchema(session, inbox.location());
    });
    expect(waits).toEqual([600_000, 600_000]);
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

  it('is made once by programs that start together, whatever isolation the database prefers', async () => {
    const inbox = inboxIn(address);
    const create = () =>
      withSession(inbox.location(), async (session) => {
        await session.run([new Query("SET default_transaction_isolation = 'repeatable read'")]);
        await createSchema(session, inbox.location());
      });
    await Promise.all(Array.from({ length: 4 }, create));
    expect(await inbox.client`SELECT FROM pg_namespace WHERE nspname = ${inbox.name}`).toHaveLength(1);
  });

  it('is what the printed statements make', async () => {
    const inbox = inboxIn(address);
    const texts = await withSession(inbox.location(), (session) => schemaStatements(session, inbox.name));
    expect(await inbox.client`SELECT FROM pg_namespace WHERE nspname = ${inbox.name}`).toHaveLength(0);
    const connection = await inbox.client.reserve();
    await connection.unsafe(`SET ROLE leads; ${texts.join('; ')}; RESET ROLE`);
    connection.release();
    expect(await takeOne(await open(inbox.location()), arrivalOf({ id: 'a' }))).toMatchObject({
      kind: 'accepted',
    });
  });

  it('is not made by a role that may not, which is shown the way', async () => {
    const database = await newDatabase(address);
    const inbox = inboxIn(address, { database });
    const role = `role_${inbox.name}`;
    await inbox.client.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${address.password}'`);
    const refused = open(inbox.location({ user: role }));
    await expect(refused).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining('leads inbox migrate') as unknown,
    });
  });

  it('is not opened on a server that would lose what it acknowledged', async () => {
    const server = (fsync: string) => {
      const state = [{ fsync, full_page_writes: 'off' }];
      return Object.assign(Object.create(Session.prototype) as Session, {
        run: () => Promise.resolve([state]),
      });
    };
    const warnings: string[] = [];
    const check = (fsync: string) =>
      checkServer(server(fsync), locationOf('postgres://u@localhost/x'), (found) =>
        warnings.push(noteText(found)),
      );
    await expect(check('off')).rejects.toThrow(/fsync=off/);
    await check('on');
    expect(warnings).toHaveLength(1);
  });

  it('is not opened on a server that is too old, whose version is named before it is sent what it does not know', async () => {
    const inbox = inboxIn(address);
    const options = `-csearch_path=${inbox.name},pg_catalog`;
    await inbox.client.unsafe(`CREATE SCHEMA ${inbox.name}; GRANT USAGE ON SCHEMA ${inbox.name} TO leads`);
    await inbox.query(
      `CREATE FUNCTION S.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '11.22' $$`,
    );
    await inbox.query(`CREATE FUNCTION S.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'unrecognized configuration parameter' USING ERRCODE = '42704'; END $$`);
    await expect(open(locationOf(urlOf(address, { parameters: { options } })))).rejects.toMatchObject({
      code: 'config',
      message: `the database on 127.0.0.1:${address.port} is PostgreSQL 11.22`,
      hint: 'version 14 or newer is needed',
    });
  });
});
