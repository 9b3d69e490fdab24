import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { damagedInbox, ids, sharingIds } from '../../inbox/sqlite/damaged-inbox.ts';
import { all, arrivalOf, deliveryOf, freshFile } from '../../inbox/support.ts';
import { leads } from '../../support/run.ts';

const recover = async (from: string, to: string) => leads(['inbox', 'recover', '--inbox', from, '-o', to]);

const open = (location: string) => openInbox({ location, clock: systemClock });

describe('leads inbox recover', () => {
  it('saves every delivery but those on the damaged page, and all ids', async () => {
    const to = freshFile('new.db');
    const run = await recover(await damagedInbox('deliveries', 10), to);
    expect(run.exitCode).toBe(7);
    expect(run.stderr).toMatch(/^9\d\d deliveries of 1000 leads saved to .*new\.db\n/);
    expect(run.stderr).toMatch(/\d+ numbers could not be read/);
    const inbox = await open(to);
    expect(await inbox.has(ids)).toEqual(new Set(ids));
    const saved = await all(inbox.list({}));
    expect(saved.length).toBeGreaterThan(950);
    expect(saved.length).toBeLessThan(1000);
    const again = await inbox.take(ids.slice(0, 1).map((id) => arrivalOf({ id })));
    expect(again).toMatchObject([{ kind: 'duplicate', attempt: 2 }]);
    expect(await inbox.take([arrivalOf({ id: 'new' })])).toMatchObject([{ kind: 'accepted', seq: 1002 }]);
    await inbox.close();
  });

  it('names the copies that a run left which was killed', async () => {
    const to = freshFile('new.db');
    const left = ['0123456789ab.tmp', '0123456789ab.tmp-wal'].map((end) => `${to}.${end}`);
    for (const file of [...left, `${to}.mine.tmp`]) writeFileSync(file, '');
    const { stderr } = await recover(await damagedInbox('deliveries', 10), to);
    expect(stderr).toContain(`copies of a run that was killed, to be removed: ${left.join(', ')}\n`);
  });

  it('saves the deliveries before the damage where nothing tells the number of the last one', async () => {
    const to = freshFile('new.db');
    const run = await recover(await damagedInbox('deliveries', -1, false, 'counter'), to);
    expect([run.exitCode, run.stderr]).toEqual([
      7,
      expect.stringMatching(/^9\d\d deliveries of 1000 leads saved.*the last deliveries may be lost/s),
    ]);
    const inbox = await open(to);
    expect(await inbox.take([arrivalOf({ id: 'new' })])).toMatchObject([{ kind: 'accepted', seq: 1001 }]);
    await inbox.close();
  });

  it('finds ids on a damaged page again in their deliveries', async () => {
    const to = freshFile('new.db');
    const run = await recover(await damagedInbox('leads', 3), to);
    expect(run.exitCode).toBe(7);
    expect(run.stderr).toContain('1000 deliveries of 1000 leads saved');
    const inbox = await open(to);
    const again = await inbox.take(ids.map((id) => arrivalOf({ id })));
    expect(new Set(again.map(({ kind }) => kind))).toEqual(new Set(['duplicate']));
    await inbox.close();
  });

  it.each(['erased', 'target_key'])(
    'says that erased ids may be unknown where %s is damaged',
    async (table) => {
      const run = await recover(await damagedInbox(table, 0), freshFile('new.db'));
      expect([run.exitCode, run.stderr]).toEqual([
        7,
        expect.stringMatching(/pruned or erased may not be known/),
      ]);
    },
  );

  it.each([
    ['work', /1400 deliveries of 1400 leads saved.*a lead that was outstanding may be lost for its target/s],
    ['nonces', /1400 deliveries of 1400 leads saved.*a delivery may be replayed/s],
    ['results', /1400 deliveries of 1400 leads saved.*what targets answered is not complete/s],
  ])('says what may be missing where a page of %s is damaged', async (table, said) => {
    const to = freshFile('new.db');
    const run = await recover(await damagedInbox(table, 2, true), to);
    expect([run.exitCode, run.stderr]).toEqual([7, expect.stringMatching(said)]);
  });

  it('saves nothing as outstanding of a lead that could not be saved', async () => {
    const to = freshFile('new.db');
    const run = await recover(await damagedInbox('leads', 0, true, 'deliveries'), to);
    expect(run.exitCode).toBe(7);
    const Libsql = await loadLibsql();
    const database = new Libsql(to, { timeout: 0 });
    const orphans = 'SELECT COUNT(*) AS n FROM work WHERE lead NOT IN (SELECT id FROM leads)';
    expect(database.prepare(orphans).get([])).toMatchObject({ n: 0 });
    database.close();
  });

  it('saves no delivery without its body', async () => {
    const to = freshFile('new.db');
    const run = await recover(await damagedInbox('shared_content', 1, true), to);
    expect([run.exitCode, run.stderr]).toEqual([
      7,
      expect.stringMatching(/^1[0-3]\d\d deliveries of 1400 leads saved.*\d+ numbers could not be read/s),
    ]);
    const inbox = await open(to);
    const saved = await all(inbox.list({}));
    expect(saved.every(({ body }) => body.length > 0)).toBe(true);
    const lost = sharingIds.filter((id) => !saved.some(({ leadId }) => leadId === id));
    expect(lost.length).toBeGreaterThan(1);
    const other = deliveryOf(`{"id":"${lost[0]}","other":1}`);
    expect(await inbox.take([{ leadId: lost[0] ?? '', delivery: other }])).toMatchObject([{ attempt: 2 }]);
    const { countedSince } = await inbox.extent();
    expect(countedSince).toBeGreaterThan(0);
    await inbox.close();
  });

  it('says that the old log must not stay beside a file that gets the old name', async () => {
    const from = freshFile('inbox.db');
    const receiver = await open(from);
    await receiver.take([arrivalOf({ id: 'a' })]);
    const to = freshFile('new.db');
    const run = await recover(from, to);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stderr).toContain(`before it gets the name ${from}, remove ${from}-wal and ${from}-shm`);
    await receiver.close();
  });

  it('copies a whole inbox whole', async () => {
    const from = freshFile('inbox.db');
    const before = await openInbox({
      location: from,
      clock: systemClock,
      targets: ['forward http://a.test/'],
    });
    await before.take(['a', 'b', 'a'].map((id) => arrivalOf({ id }, { nonce: id })));
    await before.settle([{ leadId: 'b', seq: 2, target: 'forward http://a.test/' }]);
    const delivery = deliveryOf('{"leads":[{"id":"c"},{"id":"d"}]}');
    await before.take([
      { delivery, leadId: 'c', place: { start: 10, end: 20 } },
      { delivery, leadId: 'd', place: { start: 21, end: 31 } },
    ]);
    const expected = await all(before.list({}));
    await before.close();
    const to = freshFile('new.db');
    expect(await recover(from, to)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(
        /^5 deliveries of 4 leads saved to .*new\.db\nuse it with --inbox/,
      ) as unknown,
    });
    const after = await openInbox({ location: to, clock: systemClock, targets: ['forward http://a.test/'] });
    expect(await all(after.list({}))).toEqual(expected);
    expect(await after.outstanding()).toMatchObject([{ leads: 3, wanted: true }]);
    await after.close();
  });

  it('never overwrites a file', async () => {
    const from = await damagedInbox('leads', 3);
    const to = freshFile('new.db');
    writeFileSync(to, 'mine');
    const run = await recover(from, to);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('is not overwritten');
    expect(readFileSync(to, 'utf8')).toBe('mine');
  });

  it('says when there is nothing to read', async () => {
    expect((await recover(freshFile('none.db'), freshFile('new.db'))).exitCode).toBe(6);
    const text = freshFile('text.db');
    writeFileSync(text, 'no database');
    expect((await recover(text, freshFile('new.db'))).exitCode).toBe(3);
    const empty = freshFile('empty.db');
    writeFileSync(empty, '');
    const ofEmpty = await recover(empty, freshFile('new.db'));
    expect(ofEmpty.exitCode).toBe(3);
    expect(ofEmpty.stderr).toContain('empty');
    expect((await leads(['inbox', 'recover'])).exitCode).toBe(2);
  });
});
