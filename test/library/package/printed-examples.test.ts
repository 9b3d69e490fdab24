import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../../src/library/testing.ts';
import { projectWithPackage } from './installed-package.ts';
import { printedExamples } from './printed-examples.ts';

const run = promisify(execFile);

const all = printedExamples();
const receives = (code: string): boolean =>
  code.includes('leads-cli/receiver') && !code.includes('node:test');
let project: string;
beforeAll(async () => {
  const frameworks = ['express', 'fastify', 'hono', '@hono/node-server'];
  project = await projectWithPackage(frameworks);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  for (const [i, code] of all.entries()) writeFileSync(join(project, `example-${i}.mjs`), code);
}, 60_000);

const title = (code: string): string =>
  [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name).join(', ');

describe('the examples of docs/library.md', () => {
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
