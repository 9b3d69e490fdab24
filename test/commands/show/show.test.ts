import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';

const clock = new FakeClock();
let box: Sandbox;
beforeAll(async () => {
  box = await startSandbox({ leads: 60, maxLimit: 10 }, { clock });
});
afterAll(() => box.close());

const env = (): Record<string, string> => ({ LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: box.url });

/** A home whose inbox has received one lead. */
async function homeWith(body: string, leadId: string): Promise<string> {
  const home = freshHome();
  mkdirSync(join(home, 'data'), { recursive: true });
  const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock });
  const delivery = {
    method: 'POST',
    path: '/',
    url: 'https://localhost/',
    rawHeaders: [],
    body: Buffer.from(body),
    remote: '127.0.0.1',
    receivedAt: clock.now(),
  };
  await inbox.take([{ delivery, leadId }]);
  await inbox.close();
  return home;
}

describe('leads show', () => {
  it('finds a lead on the last page, and draws all its fields', async () => {
    const oldest = [...box.leads][0]?.id ?? '';
    const run = await leads(['show', oldest], { env: env() });
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.stdout).toMatch(new RegExp(`^id +${oldest}\ncategory +`));
    expect(run.stdout).toMatch(/^metadata\.campaignId +\d{19}$/m);
    expect(run.stdout).toMatch(/^createdAt +20/m);
  });

  it('gives the lead in its own bytes, one object', async () => {
    const lead = [...box.leads][30];
    const run = await leads(['show', lead?.id ?? '', '--json'], { env: env() });
    const own = lead?.text().slice(0, -1) ?? '';
    expect(run.stdout.startsWith(own)).toBe(true);
    expect(run.stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  it('looks in the inbox when the service has no such lead', async () => {
    const home = await homeWith('{ "id": "pushed", "n": 1.0 }', 'pushed');
    const run = await leads(['show', 'pushed', '--json'], { env: env(), home });
    expect(run).toMatchObject({ exitCode: 0, stdout: '{"id":"pushed","n":1.0}\n', stderr: '' });
  });

  it('needs no key for what the inbox has, and says why it was asked', async () => {
    const home = await homeWith('{"id":"pushed"}', 'pushed');
    expect(await leads(['show', 'pushed', '--json'], { home })).toMatchObject({ exitCode: 0, stderr: '' });
    const away = { LEADS_API_KEY: 'k', LEADS_BASE_URL: 'http://127.0.0.1:9' };
    const run = await leads(['show', 'pushed', '--json', '--retries', '0'], { home, env: away });
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain("note: this is the inbox's copy: cannot reach http://127.0.0.1:9");
  });

  it('fails when nobody has it', async () => {
    const run = await leads(['show', 'nobody'], { env: env() });
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(run.stderr).toContain("there is no lead 'nobody'");
    const { stderr } = await leads(['show', 'nobody', '--json'], { env: env() });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'lead_not_found' } });
    expect((await leads(['show', 'nobody'])).exitCode).toBe(3);
  });
});
