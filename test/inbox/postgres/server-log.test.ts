import { noteText } from '../../../src/errors.ts';
import { expect, it } from 'vitest';
import { rejection } from '../../../src/webhook/delivery-answer.ts';
import { superuser } from '../../support/postgres/address.ts';
import { withCluster } from '../../support/postgres/with-cluster.ts';
import { open, takeOne } from '../stores.ts';
import { all, arrivalOf, deliveryOf, doneAt } from '../support.ts';
import { inboxIn } from './database.ts';

const settings = { log_statement: 'all', log_min_duration_statement: '0', log_parameter_max_length: '0' };

await withCluster({ settings }, (cluster) => {
  const { address } = cluster;

  it('has no byte of a lead, with every statement logged, after errors of all kinds', async () => {
    const database = inboxIn(address);
    const inbox = await open(database.location(), { targets: ['t'], claimMs: 1000 });
    const failed: string[] = [];
    const secrets: string[] = [];
    let number = 0;
    const personal = (what: string): string => {
      const text = `${what}-of-a-person-${String((number += 1))}`;
      secrets.push(text);
      return text;
    };
    const arrival = (id = personal('id'), more: object = {}) => ({
      ...arrivalOf({ id }),
      delivery: deliveryOf(JSON.stringify({ id, name: personal('name'), ...more }), {
        rawHeaders: [['X-Header', personal('header')]],
        path: `/${personal('path')}`,
      }),
      nonce: personal('nonce'),
    });
    const works = (id: string) => [
      () => inbox.take([arrival(), arrival(id)]),
      () =>
        inbox.reject([
          {
            delivery: arrival().delivery,
            leadId: id,
            rejection: rejection('wrong_credential', personal('detail')),
          },
        ]),
      () => inbox.erase({ leadIds: [id], rejected: [] }),
      () => inbox.makeDue([id]),
      () => inbox.claimLeads([id], 't'),
      () => inbox.record([doneAt({ leadId: id, seq: 1 }, 't')]),
    ];
    /** Every work fails while the database is so. */
    const failing = async (broken: string, mended: string): Promise<void> => {
      const id = personal('id');
      await takeOne(inbox, arrival(id));
      await database.query(broken);
      for (const end of await Promise.allSettled(works(id).map((work) => work()))) {
        if (end.status === 'rejected') failed.push(String(end.reason));
      }
      await database.query(mended);
    };
    const fails = (table: string, code: string) =>
      `CREATE TRIGGER fails BEFORE INSERT OR UPDATE OR DELETE ON S.${table} EXECUTE FUNCTION S.fail('${code}')`;
    await database.query(
      `CREATE FUNCTION S.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no'' USING ERRCODE = TG_ARGV[0]; END'`,
    );
    for (const table of ['leads', 'deliveries', 'forwards']) {
      for (const code of ['53100', '23505', '57014']) {
        await failing(fails(table, code), `DROP TRIGGER fails ON S.${table}`);
      }
    }
    await failing(
      'ALTER TABLE S.deliveries RENAME COLUMN body TO gone',
      'ALTER TABLE S.deliveries RENAME COLUMN gone TO body',
    );
    // The same number for two deliveries of one time.
    await failing('UPDATE S.meta SET seq = 0', 'UPDATE S.meta SET seq = 100000');
    await database.query('REVOKE ALL ON S.leads FROM leads');
    await inbox.has([personal('id')]).catch((error: unknown) => failed.push(String(error)));
    await database.query('GRANT ALL ON S.leads TO leads');

    const locked = personal('id');
    await takeOne(inbox, arrival(locked));
    await database.client.begin(async (client) => {
      await client.unsafe(`LOCK TABLE "${database.name}".leads`);
      const ends = await Promise.allSettled(works(locked).map((work) => work()));
      for (const end of ends) if (end.status === 'rejected') failed.push(String(end.reason));
    });
    expect(failed.length).toBeGreaterThanOrEqual(30);
    await takeOne(inbox, arrival(locked));
    await all(inbox.list({ leadId: locked }));
    await inbox.has([locked]);
    await inbox.erase({ leadIds: [locked], rejected: [] });

    const log = cluster.log();
    expect(log).toMatch(/canceling statement due to lock timeout/);
    expect(log).toMatch(/STATEMENT: {2}.*\$1/);
    expect(log).not.toContain('there is no transaction in progress');
    const forms = (text: string) => [
      text,
      Buffer.from(text).toString('hex'),
      Buffer.from(text).toString('base64').slice(0, -4),
    ];
    expect(secrets.length).toBeGreaterThan(100);
    expect(secrets.filter((text) => forms(text).some((form) => log.includes(form)))).toEqual([]);
  }, 60_000);

  it('is warned of where the server is set to write values into it', async () => {
    const client = superuser(address, 'postgres');
    const warnings: string[] = [];
    const opened = async () => {
      warnings.length = 0;
      await open(inboxIn(address).location(), {
        warn: (found) => void warnings.push(noteText(found)),
      });
      return warnings;
    };
    try {
      expect(await opened()).toEqual([]);
      await client.unsafe(`ALTER ROLE leads SET log_parameter_max_length = -1`);
      expect(await opened()).toEqual([expect.stringContaining('log_parameter_max_length is not off')]);
      await client.unsafe(`ALTER ROLE leads SET log_parameter_max_length_on_error = 100`);
      expect(await opened()).toEqual([
        expect.stringContaining('log_parameter_max_length, log_parameter_max_length_on_error'),
      ]);
      await client.unsafe(`ALTER ROLE leads RESET ALL`);
      await client.unsafe(`ALTER ROLE leads SET auto_explain.log_min_duration = 0`);
      expect(await opened()).toEqual([
        expect.stringMatching(
          /: auto_explain\.log_min_duration is not off; set auto_explain\.log_min_duration = -1 there$/,
        ),
      ]);
    } finally {
      await client.unsafe('ALTER ROLE leads RESET ALL');
      await client.end();
    }
  });
});
