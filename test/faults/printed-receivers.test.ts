import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { sign, type SchemeName } from '../../src/library/webhook.ts';
import { post } from '../library/receiver/post.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
const examples = [...page.matchAll(/^```[jt]s\n(.*?)^```$/gms)]
  .map(([, code = '']) => code)
  .filter((code) => code.includes("'leads-cli/receiver'") && !code.includes("'node:test'"))
  .map((code) => ({ code, name: /^import .* from '(.*)';$/m.exec(code)?.[1] ?? '' }));

test('every framework of docs/library.md has an example', () => {
  expect(examples.map(({ name }) => name)).toEqual(['express', 'fastify', '@hono/node-server', 'node:http']);
});

test.each(examples)('the application of docs/library.md with $name takes a lead', async ({ code }) => {
  const inbox = join(mkdtempSync(join(tmpdir(), 'leads-readme-')), 'leads.db');
  const secret = Buffer.from('a secret of twenty-four.').toString('base64');
  const port = await freePort();
  const program = code.replace("'leads.db'", JSON.stringify(inbox));
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: root,
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
  const scheme = /scheme: '(.*)'/.exec(code)?.[1] as SchemeName;
  const { headers, body } = await sign({ id: 'lead_1', category: 'solar' }, { scheme, secrets: secret });
  const url = `http://127.0.0.1:${port}/leads`;
  const answers: unknown[] = [];
  await until(async () => {
    const answer = await post(url, body, headers).catch(() => undefined);
    if (answer !== undefined) answers.push(answer);
    return answers.length > 0;
  }, 'the application');
  expect(answers).toEqual([{ status: 200, body: { status: 'accepted', id: 'lead_1' } }]);
  expect(printed).toContain('lead_1');
  if (!code.includes('SIGTERM')) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
