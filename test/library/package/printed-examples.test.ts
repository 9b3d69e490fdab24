import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../../src/library/testing.ts';
import { sign, type SchemeName } from '../../../src/library/webhook.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { projectWithPackage } from './installed-package.ts';
import { printedExamples } from './printed-examples.ts';

const run = promisify(execFile);

let project: string;
beforeAll(async () => {
  project = await projectWithPackage(['express', 'hono', '@hono/node-server']);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
}, 60_000);

const examples = printedExamples().map((code, i) => ({
  code,
  file: `example-${i}.mjs`,
  serves: code.includes('process.env.PORT'),
  imports: [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name).join(', '),
}));

describe('the examples of docs/library.md', () => {
  it.each(examples.filter(({ serves }) => !serves))('run to their end: $imports', async ({ code, file }) => {
    const sandbox = await startSandbox({ leads: 40, maxLimit: 15 });
    const cwd = join(project, file.replace('.mjs', ''));
    mkdirSync(cwd);
    writeFileSync(join(project, file), code);
    const env = { PATH: process.env['PATH'], LEADS_BASE_URL: sandbox.url, LEADS_API_KEY: sandbox.apiKey };
    const { stdout } = await run(process.execPath, [join('..', file)], { cwd, env });
    expect(stdout).not.toBe('');
    await sandbox.close();
  });

  it.each(examples.filter(({ serves }) => serves))(
    'take a genuine delivery and no other one: $imports',
    async ({ code, file }) => {
      const secret = Buffer.from('a secret of twenty-four.').toString('base64');
      const port = await freePort();
      writeFileSync(join(project, file), code);
      const child = spawn(process.execPath, [file], {
        cwd: project,
        env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let printed = '';
      child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
      const scheme = /scheme: '(.*?)'/.exec(code)?.[1] as SchemeName;
      const signed = await sign({ id: 'lead_1', category: 'solar' }, { scheme, secrets: secret });
      const statusOf = async (delivery: RequestInit): Promise<number | undefined> =>
        fetch(`http://127.0.0.1:${port}/leads`, delivery).then(
          ({ status }) => status,
          () => undefined,
        );
      let status: number | undefined;
      await until(async () => (status = await statusOf(signed)) !== undefined, 'the application');
      expect(status).toBe(200);
      expect(printed).toContain('lead_1');
      expect(await statusOf({ ...signed, body: '{"id":"lead_2"}' })).toBe(401);
      expect(printed).not.toContain('lead_2');
    },
  );
});
