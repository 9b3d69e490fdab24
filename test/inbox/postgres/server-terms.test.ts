import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { DatabaseError } from '../../../src/inbox/postgres/connection/database-errors.ts';
import { databaseLocation } from '../../../src/inbox/postgres/connection/database-location.ts';
import { acceptServer, ServerTerms } from '../../../src/inbox/postgres/write/server-terms.ts';
import { openTransaction, runToCommit } from '../../../src/inbox/postgres/write/write-guard.ts';
import { identifier, type Sql, sql } from '../../../src/inbox/postgres/sql.ts';
import { describeWarning } from '../../../src/messages/command-line.ts';
import { urlOf } from '../../support/postgres/address.ts';
import { postgresNeeded, sharedPostgres } from '../../support/postgres/shared.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf, freshDirectory } from '../support.ts';
import { inboxIn } from './database.ts';

const address = await sharedPostgres();

describe('a server', () => {
  const schema = identifier('s');
  const row = (term: number, timeline: string | null) => ({
    ...{ term: String(term), term_id: `id-${term}`, term_timeline: '00000001', timeline, continues: true },
  });
  const opened = () =>
    ServerTerms.open({ schema, key: Buffer.of(1), directory: undefined, warn: () => undefined });

  it('whose answer was under way while another one was seen to be newer is behind', async () => {
    const terms = await opened();
    await terms.note(row(2, '00000001'));
    await terms.note(row(1, '00000001'));
    expect(terms.check(row(1, '00000001'), 'a:1')).toMatchObject({ kind: 'database-behind-term', seen: 2 });
    expect(terms.check(row(2, '00000001'), 'b:1')).toBeUndefined();
  });

  it('commits nothing that began before another one was seen to be newer', async () => {
    const sent: string[] = [];
    const terms = await opened();
    const guard = { copies: 1, schema, terms, avoid: (host: string) => void sent.push(`avoid ${host}`) };
    const connection = {
      host: 'a:1',
      run({ text }: Sql) {
        sent.push(text);
        const terms = [{ standby_names: '', ...row(1, '00000001') }];
        return Promise.resolve([[{ guard: JSON.stringify({ terms }) }]]);
      },
    };
    await openTransaction(connection, guard);
    await terms.note(row(2, '00000001'));
    await expect(runToCommit(connection, guard, sql`SELECT 1;`)).rejects.toMatchObject({
      problem: { kind: 'database-behind-term', host: 'a:1', seen: 2 },
    });
    expect(sent).toEqual([expect.stringContaining('BEGIN'), 'avoid a:1']);
  });

  it('that cannot say how many copies there are of what it committed has too few', async () => {
    const guard = { copies: 2, schema, terms: await opened(), avoid: () => undefined };
    const connection = {
      host: 'a:1',
      run: ({ text }: Sql) =>
        text.includes('standby_names')
          ? Promise.reject(new DatabaseError('canceling statement due to user request', '57014'))
          : Promise.resolve([]),
    };
    await expect(runToCommit(connection, guard, sql`SELECT 1;`)).rejects.toMatchObject({
      problem: { kind: 'database-too-few-copies' },
    });
  });

  it('that still recovers is a standby', async () => {
    expect((await opened()).check(row(1, null), 'a:1')).toMatchObject({
      kind: 'database-unfit',
      host: 'a:1',
    });
  });
});

if (address === undefined) test.skip(postgresNeeded);
else {
  describe('the term of an inbox', () => {
    const started = (dataDir = freshDirectory()) => {
      const inbox = inboxIn(address);
      const warnings: string[] = [];
      const location = databaseLocation(urlOf(address, { parameters: { schema: inbox.name } }), {
        env: { HOME: '/nonexistent' },
        platform: 'linux',
        dataDir,
        warn: (found) => void warnings.push(describeWarning(found)),
      });
      return { ...inbox, dataDir, warnings, location: () => location };
    };

    it('is kept, and one beside it with the same number is another', async () => {
      const { location, query, dataDir } = started();
      await takeOne(await open(location()), arrivalOf({ id: 'a' }));
      const [name = ''] = readdirSync(join(dataDir, 'terms'));
      expect(JSON.parse(readFileSync(join(dataDir, 'terms', name), 'utf8'))).toMatchObject({
        version: 1,
        number: 1,
      });
      await query('UPDATE S.terms SET id = gen_random_uuid()');
      await expect(open(location())).rejects.toMatchObject({ problem: { kind: 'database-behind-term' } });
    });

    it('refuses a running receiver whose server was exchanged, until it is accepted', async () => {
      const { name, location, query, client } = started();
      const inbox = await open(location());
      await takeOne(inbox, arrivalOf({ id: 'a' }));
      await query('UPDATE S.terms SET id = gen_random_uuid()');
      await expect(takeOne(inbox, arrivalOf({ id: 'b' }))).rejects.toThrow();
      await client.unsafe(acceptServer(identifier(name)).text);
      expect(await takeOne(inbox, arrivalOf({ id: 'b' }))).toMatchObject({ kind: 'accepted' });
      expect(await query('SELECT number::int AS number FROM S.terms ORDER BY 1')).toEqual([
        { number: 1 },
        { number: 1001 },
      ]);
    });

    it('keeps all else from a server that was exchanged: what was confirmed, and that a receiver ends', async () => {
      const { location, query } = started();
      const inbox = await open(location(), { targets: ['t'] });
      const sharing = await open(location());
      await takeOne(sharing, arrivalOf({ id: 'a' }));
      await query('UPDATE S.terms SET id = gen_random_uuid()');
      await query(`UPDATE S.unconfirmed SET seqs = '{[1,2)}'`);
      await expect(takeOne(sharing, arrivalOf({ id: 'b' }))).rejects.toThrow();
      await sharing.close();
      await inbox.close();
      expect(await query('SELECT seqs::text FROM S.unconfirmed')).toEqual([{ seqs: '{[1,2)}' }]);
      expect(await query('SELECT count(*)::int AS count FROM S.receivers')).toEqual([{ count: 1 }]);
    });

    it('is raised on a higher timeline by one of those that meet it, and not on a lower one', async () => {
      const { location, query, dataDir, warnings } = started();
      const [one, other] = [await open(location()), await open(location())];
      await query(`UPDATE S.terms SET timeline = '00000000'`);
      await Promise.all([takeOne(one, arrivalOf({ id: 'a' })), takeOne(other, arrivalOf({ id: 'b' }))]);
      expect(warnings).toEqual([]);
      const [file = ''] = readdirSync(join(dataDir, 'terms'));
      expect(JSON.parse(readFileSync(join(dataDir, 'terms', file), 'utf8'))).toMatchObject({ number: 2 });
      expect(await query('SELECT number::int AS number FROM S.terms ORDER BY 1')).toEqual([
        { number: 1 },
        { number: 2 },
      ]);
      await query(`UPDATE S.terms SET timeline = 'FFFFFFFF'`);
      await expect(takeOne(one, arrivalOf({ id: 'c' }))).rejects.toThrow();
      await expect(open(location())).rejects.toMatchObject({
        problem: { kind: 'database-of-lower-timeline' },
      });
    });

    it('that cannot be kept is said once, and holds while the receiver runs', async () => {
      // Where nobody makes a directory.
      const { location, query, warnings } = started('/proc/none');
      const inbox = await open(location());
      await takeOne(inbox, arrivalOf({ id: 'a' }));
      await takeOne(inbox, arrivalOf({ id: 'b' }));
      expect(warnings).toEqual([expect.stringContaining('cannot be written')]);
      await query('UPDATE S.terms SET id = gen_random_uuid()');
      await expect(takeOne(inbox, arrivalOf({ id: 'c' }))).rejects.toThrow();
    });
  });
}
