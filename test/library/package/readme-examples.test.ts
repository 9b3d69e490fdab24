import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../../src/library/testing.ts';
import { projectWithPackage } from './installed-package.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * The blocks of the README's section for applications. Each is a whole module. One that pulls asks `LEADS_BASE_URL` with
 * `LEADS_API_KEY` and ends; one with `node:test` is a test that passes; what serves is run in test/faults.
 */
function examples(): string[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const [, section = ''] = /\n## In your application\n([^]*?)\n## /.exec(text) ?? [];
  return [...section.matchAll(/```[jt]s\n([^]*?)```/g)].map(([, code = '']) => code);
}

const all = examples();
const receives = (code: string): boolean =>
  code.includes('leads-cli/receiver') && !code.includes('node:test');
let project: string;
beforeAll(async () => {
  const frameworks = ['express', 'fastify', 'hono', '@hono/node-server'];
  project = await projectWithPackage(['@types/node', 'undici-types', ...frameworks]);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  // Its types are a package of their own.
  writeFileSync(join(project, 'express.d.ts'), "declare module 'express';\n");
  for (const [i, code] of all.entries()) {
    writeFileSync(join(project, `example-${i}.ts`), code);
    writeFileSync(join(project, `example-${i}.mjs`), code);
  }
}, 60_000);

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
});
