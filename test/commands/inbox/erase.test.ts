import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { rejection } from '../../../src/webhook/delivery-answer.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads, type RunOptions } from '../../support/run.ts';
import { scripted, sendJson } from '../../support/service.ts';
import { deliveryOf } from '../../inbox/support.ts';

const clock = new FakeClock(undefined, { hasty: true });
const targets = ['forward http://localhost:3000/hook'];

interface Lead {
  readonly id: string;
  readonly contact: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const ada: Lead = {
  id: 'lead_1',
  createdAt: new Date(clock.now() - 60_000).toISOString(),
  contact: { name: 'Ada Lovelace', email: 'Ada@Example.com', phone: '+44 (20) 7946-0958' },
};
const bob: Lead = { ...ada, id: 'lead_2', contact: { email: 'nada@example.com', phone: '+44 20 7946 0959' } };
const eve: Lead = { ...bob, id: 'lead_3', note: 'a friend of ada@example.com, 0044 20 79460958' };

/** A home whose inbox has three leads, one of them waiting, and rejected deliveries in several forms. */
async function filled(): Promise<string> {
  const home = freshHome();
  const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
  const bodyOf = (lead: Lead): string => JSON.stringify(lead);
  const take = (lead: Lead, to = inbox) =>
    to.take([{ leadId: lead.id, delivery: deliveryOf(bodyOf(lead), { receivedAt: clock.now() }) }]);
  await take(bob);
  await take(eve);
  const refused = (body: string, path = '/'): Parameters<typeof inbox.reject>[0][number] => ({
    delivery: deliveryOf(body, { path, receivedAt: clock.now() }),
    rejection: rejection('wrong_credential', 'not the token'),
  });
  await inbox.reject([
    refused(bodyOf(ada).replace('@', String.raw`\u0040`)),
    refused('not JSON', '/leads?to=ADA%40example.com&phone=%2B44+20+7946+0958'),
    refused(bodyOf(bob)),
  ]);
  await inbox.close();
  const forwarding = await openInbox({ location: join(home, 'data', 'inbox.db'), clock, targets });
  await take(ada, forwarding);
  await take({ ...ada, note: 'again' }, forwarding);
  await forwarding.close();
  return home;
}

const run = (home: string, words: readonly string[], more: RunOptions = {}) =>
  leads(['inbox', 'erase', ...words], { home, clock, ...more });

/** Digests of all files of a home; the index of the database's log holds locks of readers, and nothing that was received. */
const filesOf = (home: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, hash('sha256', readFileSync(path))]),
  );

const idsIn = async (home: string): Promise<unknown[]> =>
  (
    JSON.parse((await leads(['inbox', 'list', '--json'], { home, clock })).stdout) as { leadId: unknown }[]
  ).map(({ leadId }) => leadId);

describe('leads inbox erase', () => {
  it.each([
    ['--email', 'ADA@example.com '],
    ['--phone', '0044 20 7946 0958'],
  ])(
    '%s erases every lead of the person and the rejected deliveries in which it is readable',
    async (...by) => {
      const home = await filled();
      const { exitCode, stdout, stderr } = await run(home, [...by, '--yes']);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(
        /LEAD .*\nlead_1 .* 2 .*waiting\n.*rejected delivery 3.*\n.*rejected delivery 4/,
      );
      expect(stderr).toContain(
        'erased: 1 lead with 2 deliveries, 2 rejected deliveries, forwards of 1 lead cancelled',
      );
      expect(stderr).toMatch(/not reached from here: backups .*exports, --output files.*handed to/);
      expect(stderr).toContain(
        "1 other lead has it outside of the contact, and stay: 'lead_3'".replace('stay', 'stays'),
      );
      expect(await idsIn(home)).toEqual([null, 'lead_3', 'lead_2']);
    },
  );

  it('--test erases the leads of send and check, and their rejected deliveries, without asking', async () => {
    const home = await filled();
    expect(await run(home, ['--test'])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: 'the inbox holds no test lead\n',
    });
    const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
    const take = (id: string, receivedAt = clock.now()) =>
      inbox.take([{ leadId: id, delivery: deliveryOf(JSON.stringify({ ...bob, id }), { receivedAt }) }]);
    await take('leads-send-pruned-1', clock.now() - 7_200_000);
    await inbox.prune(clock.now() - 3_600_000);
    await take('leads-send-abc-1');
    await take('leads-check-abc-1');
    await take('leads-sent-1');
    await inbox.reject(
      [
        '{"id":"leads-check-abc-2"}',
        '{"id":"leads-check-malformed","contact":{',
        '{"note":"leads-check-"}',
      ].map((body) => ({
        delivery: deliveryOf(body, { receivedAt: clock.now() }),
        rejection: rejection('wrong_credential', 'not the token'),
      })),
    );
    await inbox.close();
    const before = filesOf(home);
    const dry = await run(home, ['--test', '--dry-run']);
    expect(dry.stderr).toContain('would be erased: 3 leads with 2 deliveries, 2 rejected deliveries');
    expect(filesOf(home)).toEqual(before);
    const { exitCode, stdout } = await run(home, ['--test', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      erased: { leads: 3, deliveries: 2, rejected: 2, waiting: 0 },
    });
    expect(await idsIn(home)).toHaveLength(9);
    expect(await idsIn(home)).toContain('leads-sent-1');
    expect((await run(home, ['--test', '--id', 'lead_1'])).exitCode).toBe(2);
  });

  it('--id erases one lead, and the rejected deliveries of that id', async () => {
    const home = await filled();
    const { exitCode, stdout } = await run(home, ['--id', 'lead_1', '--yes', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      dryRun: false,
      leads: [{ id: 'lead_1', deliveries: 2, waiting: true }],
      rejected: [{ number: 3, reason: 'wrong_credential' }],
      mentionedIn: [],
      erased: { leads: 1, deliveries: 2, rejected: 1, waiting: 1 },
      remains: null,
      outOfReach: expect.arrayContaining(['backups and other copies of the inbox']) as unknown,
    });
    expect(await idsIn(home)).toEqual([null, null, 'lead_3', 'lead_2']);
    const again = await run(home, ['--id', 'lead_1', '--yes']);
    expect(again).toMatchObject({ exitCode: 0, stdout: '' });
    expect(again.stderr).toContain('the lead was erased before');
    expect((await leads(['inbox', 'show', 'lead_1'], { home, clock })).exitCode).toBe(7);
  });

  it('--dry-run lists the same and changes no byte of any file', async () => {
    const home = await filled();
    const before = filesOf(home);
    const dry = await run(home, ['--email', 'ada@example.com', '--dry-run']);
    expect(dry.exitCode).toBe(0);
    expect(dry.stderr).toContain(
      'would be erased: 1 lead with 2 deliveries, 2 rejected deliveries, forwards of 1 lead cancelled',
    );
    const { stdout } = await run(home, ['--email', 'ada@example.com', '--dry-run', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, leads: [{ id: 'lead_1' }], erased: null });
    expect(filesOf(home)).toEqual(before);
    expect((await run(home, ['--email', 'ada@example.com', '--yes'])).stdout).toBe(dry.stdout);
  });

  it('prints nothing on a terminal that could drive it, and the same JSON', async () => {
    const home = await filled();
    const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
    const leadId = 'lead\u009b31m';
    await inbox.take([{ leadId, delivery: deliveryOf(JSON.stringify({ ...ada, id: leadId })) }]);
    await inbox.close();
    const { stdout } = await run(home, ['--id', leadId, '--dry-run', '--json'], { terminal: 100 });
    expect(stdout).not.toContain('\u009b');
    expect(JSON.parse(stdout)).toMatchObject({ leads: [{ id: leadId }] });
  });

  it('erases nothing without a confirmation', async () => {
    const home = await filled();
    const before = await idsIn(home);
    const inPipe = await run(home, ['--id', 'lead_1']);
    expect(inPipe).toMatchObject({ exitCode: 2, stdout: '' });
    expect(inPipe.stderr).toMatch(/--yes confirms it\nhint: .*--dry-run/);
    const answered = (text: string) =>
      run(home, ['--id', 'lead_1'], { terminal: 100, stdin: Readable.from([text]) });
    const no = await answered('n\n');
    expect(no.exitCode).toBe(2);
    expect(no.stderr).toMatch(/would be erased: 1 lead .*\nerase this for ever\? \[y\/N\] .*not confirmed/s);
    expect(await idsIn(home)).toEqual(before);
    expect((await answered('y\n')).exitCode).toBe(0);
    expect(await idsIn(home)).toHaveLength(before.length - 3);
  });

  it('says that there is nothing to erase: exit 7', async () => {
    const home = await filled();
    const before = await idsIn(home);
    for (const by of [
      ['--id', 'x'],
      ['--email', 'x@example.com'],
      ['--phone', '12345'],
    ]) {
      for (const how of ['--yes', '--dry-run']) {
        const { exitCode, stderr } = await run(home, [...by, how]);
        expect([exitCode, stderr]).toEqual([7, expect.stringContaining(`'${by[1] ?? ''}'`)]);
      }
    }
    expect(await idsIn(home)).toEqual(before);
    expect((await run(freshHome(), ['--id', 'x', '--yes'])).exitCode).toBe(7);
  });

  it.each([[[]], [['--id', 'a', '--email', 'a@b.c']], [['--email', 'nobody']], [['--phone', '12-34']]])(
    'rejects %j',
    async (words) => {
      expect((await run(freshHome(), [...words, '--dry-run'])).exitCode).toBe(2);
    },
  );

  it('leaves an audit equal, whether the service still lists the lead or not', async () => {
    const home = await filled();
    await run(home, ['--email', 'ada@example.com', '--yes']);
    for (const listed of [
      [ada, bob, eve],
      [bob, eve],
    ]) {
      const service = await scripted((_, response) => {
        response.sendDate = false;
        sendJson(response, { data: listed, nextCursor: null });
      });
      const env = { LEADS_API_KEY: 'k', LEADS_BASE_URL: service.url };
      const { exitCode, stdout } = await leads(['audit', '--json', '--settle', '1s'], { home, clock, env });
      await service.close();
      expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        pulled: listed.length,
        matched: listed.length,
        byClass: { missing: 0, extra: 0, different: 0, refused: 0, waiting: 0 },
      });
      expect(exitCode).toBe(0);
    }
  });
});
