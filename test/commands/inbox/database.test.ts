import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { newInboxUrl, urlOf } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';
import { scripted, sendJson } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { answering, appInEachTest, startApp } from '../listen/app.ts';
import { listen } from '../listen/support.ts';

const address = await sharedPostgres();
const startHere = appInEachTest();

const json = async (argv: readonly string[], env: Record<string, string>): Promise<unknown> => {
  const run = await leads([...argv, '--json'], { env });
  if (run.stdout === '') throw new Error(run.stderr);
  return JSON.parse(run.stdout);
};

describe.skipIf(address === undefined)('an inbox in a database', () => {
  if (address === undefined) return;
  const url = newInboxUrl(address);
  const schema = /schema=(\w+)/.exec(url)?.[1] ?? '';
  const shown = `postgres://leads@127.0.0.1:${address.port}/leads?schema=${schema}`;
  // In the environment, so that no test can show it.
  const env = {
    LEADS_INBOX: urlOf(address, { password: '', parameters: { schema } }),
    PGPASSWORD: address.password,
  };

  beforeAll(async () => {
    const broken = await startApp(({ body }, response) =>
      response.writeHead(body.includes('waiting') ? 500 : 200).end(),
    );
    const listener = await listen(['--http', '--forward-to', broken.url, '--format', 'events'], { env });
    expect((await listener.post('{"id":"waiting-1"}')).status).toBe(200);
    const { body } = await listener.post('{ "id":"a-1",  "category":"solar" }');
    expect(body).toEqual({ status: 'accepted', id: 'a-1' });
    expect((await listener.post('{"id":"a-1"}')).body).toMatchObject({ status: 'duplicate' });
    expect((await listener.post('{"id":"b"}', { 'x-webhook-token': 'wrong' })).status).toBe(401);
    await until(() => listener.forwards().length === 2);
    const run = await listener.stop();
    await broken.close();
    expect(listener.events()[0]).toMatchObject({ type: 'listening', inbox: shown });
    expect(run.stdout + run.stderr).not.toContain(address.password);
  }, 20_000);

  test('is listed, shown and exported', async () => {
    expect(
      await json(['inbox', 'list', '--verdict', 'accepted', '--verdict', 'duplicate'], env),
    ).toMatchObject([
      { leadId: 'a-1', verdict: 'duplicate' },
      { leadId: 'a-1', verdict: 'accepted' },
      { leadId: 'waiting-1', verdict: 'accepted' },
    ]);
    expect(await json(['inbox', 'list', '--verdict', 'waiting'], env)).toMatchObject([
      { leadId: 'waiting-1' },
    ]);
    expect((await leads(['inbox', 'show', 'a-1', '--raw'], { env })).stdout).toBe(
      '{ "id":"a-1",  "category":"solar" }',
    );
    expect((await leads(['inbox', 'export'], { env })).stdout).toBe(
      '{"id":"waiting-1"}\n{"id":"a-1","category":"solar"}\n',
    );
    expect((await leads(['show', 'a-1', '--json'], { env })).stdout).toContain('solar');
  });

  test('is read by stats, verify, send and doctor', async () => {
    expect(await json(['stats', '--inbox'], env)).toMatchObject({ total: 2 });
    const verified = await leads(['verify', '--id', 'a-1', '--token', 'token-of-the-tests', '--json'], {
      env,
    });
    expect(JSON.parse(verified.stdout)).toMatchObject({
      form: expect.stringMatching(/^delivery \d+ of the inbox$/) as string,
    });
    const app = await startHere(answering(200));
    const sent = await leads(['send', app.url, '--from', 'inbox', '--token', 'x'], { env });
    expect(sent.exitCode).toBe(0);
    expect(app.received.map(({ body }) => body.toString())).toContain('{ "id":"a-1",  "category":"solar" }');
    const doctor = await leads(['doctor', '--json'], { env });
    expect(doctor.stdout).toMatch(
      /"name":"receiver.inbox","result":"pass","detail":"[^"]* opens, and syncs to disk: PostgreSQL/,
    );
  });

  test('is compared by audit, and delivered again by retry', async () => {
    const service = await scripted((_, response) =>
      sendJson(response, { data: [{ id: 'a-1', category: 'solar' }], total: 1 }),
    );
    const home = freshHome();
    await leads(['login', '--base-url', service.url, '--no-check'], { home, stdin: 'key-of-the-tests' });
    const audit = await leads(['audit', '--settle', '0s', '--json'], { home, env });
    expect(JSON.parse(audit.stdout)).toMatchObject({ matched: 1, received: 1 });
    const app = await startHere(answering(200));
    // To a COMMIT that takes long, others may have taken over its leads.
    const clock = new FakeClock(Date.now());
    const retried = await leads(['inbox', 'retry', '--pending', '--to', app.url], { env, clock });
    expect(retried).toMatchObject({ exitCode: 0, stderr: '1 lead delivered\n' });
    expect(await json(['inbox', 'list', '--verdict', 'waiting'], env)).toEqual([]);
    const file = join(freshHome(), 'url');
    writeFileSync(file, `${url}\n`, { mode: 0o600 });
    const pruned = await leads(['inbox', 'prune', '--before', 'now', '--inbox', `@${file}`]);
    expect(pruned).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('deliveries dropped') as string,
    });
  });

  test('is named by a command line, with a note where a password stands in it, and shown without', async () => {
    const run = await leads(['inbox', 'list', '--inbox', url]);
    expect(run.stderr).toContain('can be seen by other users of this machine');
    expect(run.stderr).not.toContain(address.password);
    const read = await leads(['inbox', 'list', '--inbox', '@-'], { stdin: `${url}\n` });
    expect(read.stderr).toMatch(/^no delivery matches\n$/);
    expect(read.stderr).not.toContain('can be seen by');
    const none = await leads(['inbox', 'list', '--inbox', '@-'], { stdin: 'no URL' });
    expect(none).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('stdin does not hold a URL') as string,
    });
    const other = await leads(['inbox', 'list', '--inbox', `mysql://u:${address.password}@h/d`]);
    expect(other).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is a URL of mysql://') as string,
    });
    expect(other.stderr).not.toContain(address.password);
  });
});

describe.skipIf(address === undefined)('leads inbox migrate', () => {
  if (address === undefined) return;

  test('prints what it would do, does it, and has nothing to do then', async () => {
    const url = newInboxUrl(address);
    const env = { LEADS_INBOX: url };
    const printed = await leads(['inbox', 'migrate', '--print'], { env });
    expect(printed).toMatchObject({ exitCode: 0, stderr: '' });
    expect(printed.stdout).toContain('CREATE SCHEMA');
    const before = await leads(['inbox', 'list'], { env });
    expect(before).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('there is no inbox in') as string,
    });
    expect(before.stderr).toContain("'leads inbox migrate'");
    expect((await leads(['inbox', 'migrate'], { env })).stderr).toMatch(/^made the inbox .*\n$/);
    expect((await leads(['inbox', 'migrate'], { env })).stderr).toMatch(/already\n$/);
    expect((await leads(['inbox', 'migrate', '--print'], { env })).stdout).toBe('');
  });

  test('is for databases', async () => {
    expect(await leads(['inbox', 'migrate'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is for databases') as string,
    });
  });
});
