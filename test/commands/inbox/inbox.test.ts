import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rejection } from '../../../src/webhook/delivery-answer.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { freshHome, leads } from '../../support/run.ts';
import { FakeClock } from '../../support/clock.ts';
import { deliveryOf } from '../../inbox/support.ts';

const clock = new FakeClock();
const hour = 3_600_000;

/** A home whose inbox has three leads, a duplicate with another payload, and a refused delivery. */
async function filled(): Promise<string> {
  const home = freshHome();
  const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
  const at = (hours: number): number => clock.now() - hours * hour;
  const take = (id: string, body: string, hours: number) =>
    inbox.take([{ leadId: id, delivery: deliveryOf(body, { receivedAt: at(hours) }) }]);
  await take('a', '{ "id": "a", "n": 1.0 }', 50);
  await take('b', '{"id":"b","name":"Ada, \\"Countess\\""}', 5);
  await take('=c', '{"id":"=c"}', 2);
  await take('a', '{"id":"a","n":2}', 1);
  await inbox.reject([
    {
      delivery: deliveryOf(Buffer.from([0xff, 0x00]), { receivedAt: at(0.5) }),
      rejection: rejection('wrong_credential', 'no'),
    },
  ]);
  await inbox.close();
  return home;
}

const run = async (home: string, ...words: string[]) => leads(['inbox', ...words], { home, clock });

describe('leads inbox list', () => {
  it('shows the newest first, with verdicts', async () => {
    const { stdout, exitCode } = await run(await filled(), 'list');
    expect(exitCode).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^NO +RECEIVED +VERDICT +STATUS +LEAD +ATTEMPT +FROM +REMARK/);
    expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(2, 4).join())).toEqual([
      'rejected,401',
      'duplicate,200',
      'accepted,200',
      'accepted,200',
      'accepted,200',
    ]);
    expect(lines[2]).toContain('differs: n');
  });

  it('filters by verdict and time, and limits', async () => {
    const home = await filled();
    const ids = async (...words: string[]): Promise<unknown[]> =>
      (JSON.parse((await run(home, 'list', '--json', ...words)).stdout) as { leadId: unknown }[]).map(
        ({ leadId }) => leadId,
      );
    expect(await ids('--verdict', 'accepted')).toEqual(['=c', 'b', 'a']);
    expect(await ids('--verdict', 'rejected', '--verdict', 'duplicate')).toEqual([null, 'a']);
    expect(await ids('--since', '6h', '--until', '1h')).toEqual(['=c', 'b']);
    expect(await ids('--in', 'yesterday', '--zone', 'Pacific/Kiritimati')).not.toContain(null);
    expect(await ids('--limit', '2')).toEqual([null, 'a']);
    expect(await ids('--limit', 'all')).toHaveLength(5);
    expect((await run(home, 'list', '--limit', '1')).stderr).toContain('older deliveries are not shown');
    expect((await run(home, 'list', '--verdict', 'x')).exitCode).toBe(2);
  });

  it('names an end with which no older delivery of the same millisecond is passed over', async () => {
    const home = freshHome();
    const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
    for (const [leadId, ago] of [
      ['old', 7],
      ['b', 3],
      ['c', 3],
      ['new', 1],
    ] as const) {
      const delivery = deliveryOf(`{"id":"${leadId}"}`, { receivedAt: clock.now() - ago });
      await inbox.take([{ leadId, delivery }]);
    }
    await inbox.close();
    const list = async (limit: number, ...words: string[]) => {
      const { stdout, stderr } = await run(home, 'list', '--json', '--limit', String(limit), ...words);
      const ids = (JSON.parse(stdout) as { leadId: string }[]).map(({ leadId }) => leadId);
      return { ids, stderr, end: /or (--until) (\S+)/.exec(stderr)?.slice(1) ?? [] };
    };
    const first = await list(2);
    expect(first).toMatchObject({ ids: ['new', 'c'], end: ['--until', expect.stringContaining('.')] });
    expect(await list(3, ...first.end)).toMatchObject({ ids: ['c', 'b', 'old'], end: [] });
    const { end, stderr } = await list(1, ...first.end);
    expect(end).toEqual([]);
    expect(stderr).toContain('older deliveries are not shown: --limit all');
  });

  it('draws rows that a spreadsheet does not run', async () => {
    const { stdout } = await run(await filled(), 'list', '--format', 'csv');
    expect(stdout).toContain(",'=c,");
  });
});

describe('leads inbox show', () => {
  it('shows every delivery of a lead, first one first', async () => {
    const home = await filled();
    const { stdout } = await run(home, 'show', 'a', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { verdict: 'accepted', attempt: 1, body: '{ "id": "a", "n": 1.0 }' },
      { verdict: 'duplicate', attempt: 2, differs: ['n'], headers: [['Content-Type', 'application/json']] },
    ]);
    expect((await run(home, 'show', 'a')).stdout).toMatch(/delivery 1 of 2[^]*delivery 2 of 2/);
    expect((await run(home, 'show', 'a', '--raw')).stdout).toBe('{ "id": "a", "n": 1.0 }');
  });

  it('shows one delivery by its number, also one that holds no lead', async () => {
    const home = await filled();
    const [newest] = JSON.parse((await run(home, 'list', '--json')).stdout) as { number: number }[];
    const { stdout } = await run(home, 'show', String(newest?.number), '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ reason: 'wrong_credential', bodyBase64: '/wA=' }]);
    expect((await run(home, 'show')).exitCode).toBe(2);
  });

  it('says by number too how many deliveries of the lead are not kept', async () => {
    const home = freshHome();
    const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
    const repeat = { leadId: 'a', delivery: deliveryOf('{"id":"a"}') };
    await inbox.take(Array.from({ length: 103 }, () => repeat));
    await inbox.close();
    const said = '2 deliveries of the lead not kept any more';
    expect((await run(home, 'show', 'a')).stderr).toContain(said);
    expect((await run(home, 'show', '1')).stderr).toContain(said);
  });

  it('that finds nothing is exit 7, with the code of a lead that was not found', async () => {
    const home = await filled();
    const { exitCode, stderr } = await run(home, 'show', 'nobody');
    expect(exitCode).toBe(7);
    expect(stderr).toContain("no delivery of the lead 'nobody'");
    const byNumber = await run(home, 'show', '99', '--json');
    expect(byNumber.exitCode).toBe(7);
    expect(JSON.parse(byNumber.stderr)).toMatchObject({ error: { code: 'lead_not_found' } });
  });
});

describe('leads inbox export', () => {
  it("gives accepted leads once, in the webhook's own bytes, compact", async () => {
    const { stdout, stderr } = await run(await filled(), 'export');
    expect(stdout).toBe('{"id":"a","n":1.0}\n{"id":"b","name":"Ada, \\"Countess\\""}\n{"id":"=c"}\n');
    expect(stderr).toBe('3 leads\n');
  });

  it('takes a window', async () => {
    const { stdout } = await run(await filled(), 'export', '--since', '10h', '--until', '3h');
    expect(stdout).toBe('{"id":"b","name":"Ada, \\"Countess\\""}\n');
  });
});

describe('leads inbox prune', () => {
  it('drops what is old and keeps its ids', async () => {
    const home = await filled();
    expect((await run(home, 'prune')).exitCode).toBe(2);
    expect(await run(home, 'prune', '--before', '2099-01-01')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("'2099-01-01' is in the future") as string,
    });
    expect((await run(home, 'prune', '--before', '24h')).stderr).toContain('1 delivery dropped');
    expect((await run(home, 'export')).stdout).not.toContain('"a"');
    const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
    const again = await inbox.take([{ leadId: 'a', delivery: deliveryOf('{"id":"a","n":3}') }]);
    await inbox.close();
    expect(again).toMatchObject([{ kind: 'duplicate', attempt: 3, firstAt: clock.now() - 50 * hour }]);
  });
});

it('has an inbox for each profile', async () => {
  const home = await filled();
  const other = await leads(['inbox', 'list', '--profile', 'other/one'], { home });
  expect(other.stderr).toContain('inbox-other%2Fone.db');
});
