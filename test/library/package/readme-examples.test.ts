import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../../src/library/testing.ts';
import { sign } from '../../../src/library/webhook.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { projectWithPackage } from './installed-package.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * The blocks of the README's section for applications. Each is a whole module. One that receives listens on `PORT`,
 * with the secret in `LEADS_WEBHOOK_SECRET`, or exports a Fetch handler; one that pulls asks `LEADS_BASE_URL` with
 * `LEADS_API_KEY` and ends; one with `node:test` is a test that passes.
 */
function examples(): string[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const [, section = ''] = /\n## In your application\n([^]*?)\n## /.exec(text) ?? [];
  return [...section.matchAll(/```[jt]s\n([^]*?)```/g)].map(([, code = '']) => code);
}

const all = examples();
const receives = (code: string): boolean =>
  code.includes('leads-cli/receiver') && !code.includes('node:test');
const secret = `whsec_${Buffer.from('a secret of the examples').toString('base64')}`;

let project: string;
beforeAll(async () => {
  const frameworks = ['express', 'fastify', 'hono', '@hono/node-server'];
  const installed = frameworks.filter((name) => existsSync(join(root, 'node_modules', name)));
  project = await projectWithPackage(['@types/node', 'undici-types', 'libsql', '@libsql', ...installed]);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  // Its types are a package of their own.
  writeFileSync(join(project, 'express.d.ts'), "declare module 'express';\n");
  for (const [i, code] of all.entries()) {
    writeFileSync(join(project, `example-${i}.ts`), code);
    writeFileSync(join(project, `example-${i}.mjs`), code);
  }
  copyFileSync(join(root, 'test/library/package/serve-example.mjs'), join(project, 'serve-example.mjs'));
}, 60_000);

const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

const title = (code: string): string =>
  [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name).join(', ');

describe("the README's examples for applications", () => {
  it('hold in strict TypeScript', async () => {
    expect(all.length).toBeGreaterThan(0);
    const flags = '--strict --exactOptionalPropertyTypes --skipLibCheck --types node --noEmit'.split(' ');
    const form = '--module nodenext --target es2023 --lib es2023'.split(' ');
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const files = ['express.d.ts', ...all.map((_, i) => `example-${i}.ts`)];
    const { stdout } = await run(process.execPath, [compiler, ...flags, ...form, ...files], {
      cwd: project,
    }).catch((error: unknown) => error as { stdout: string });
    expect(stdout).toBe('');
  }, 90_000);

  it.each(all.map((code, i) => [title(code), i, code] as const).filter(([, , code]) => !receives(code)))(
    'run to their end: %s',
    async (_, i) => {
      const sandbox = await startSandbox({ leads: 40, maxLimit: 15 });
      const cwd = join(project, `place-${i}`);
      mkdirSync(cwd);
      const env = { PATH: process.env['PATH'], LEADS_BASE_URL: sandbox.url, LEADS_API_KEY: sandbox.apiKey };
      const { stdout } = await run(process.execPath, [`../example-${i}.mjs`], { cwd, env });
      expect(stdout).not.toBe('');
      await sandbox.close();
    },
  );

  it.each(all.map((code, i) => [title(code), i, code] as const).filter(([, , code]) => receives(code)))(
    'take genuine deliveries alone: %s',
    async (_, i, code) => {
      const port = await freePort();
      const cwd = join(project, `place-${i}`);
      mkdirSync(cwd);
      const env = { PATH: process.env['PATH'], PORT: String(port), LEADS_WEBHOOK_SECRET: secret };
      const child = spawn(process.execPath, ['../serve-example.mjs', `../example-${i}.mjs`], { cwd, env });
      children.push(child);
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const [, path = '/'] = /post\('(\/[^']*)'/.exec(code) ?? [];
      const [, scheme = ''] = /scheme: '([^']+)'/.exec(code) ?? [];
      const url = `http://127.0.0.1:${port}${path}`;
      const post = async (body?: Uint8Array): Promise<number> => {
        const delivery = await sign({ id: 'lead_1' }, { scheme: scheme as 'svix', secrets: secret, url });
        const answer = await fetch(url, { ...delivery, body: Buffer.from(body ?? delivery.body) });
        await answer.arrayBuffer();
        return answer.status;
      };
      await until(async () => {
        if (child.exitCode !== null) throw new Error(`the example ended: ${said}`);
        return post().then(
          (status) => status !== 503,
          () => false,
        );
      }, 'the example to listen');
      expect(await post()).toBe(200);
      expect(await post(Buffer.from('{"id":"lead_2"}'))).toBe(401);
      child.kill();
    },
    40_000,
  );
});
