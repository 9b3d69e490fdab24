import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { beforeAll, expect, it } from 'vitest';
import { libsqlVersion } from '../../../src/inbox/sqlite/libsql.ts';
import { entries, projectWithPackage } from './installed-package.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** No library that the package depends on is installed here. */
let project: string;
beforeAll(async () => {
  project = await projectWithPackage();
}, 180_000);

it('are loaded by import and require without a word, and change nothing of the process, in use neither', async () => {
  const home = join(project, 'home');
  mkdirSync(home);
  copyFileSync(join(root, 'test/library/package/host-probe.cjs'), join(project, 'host-probe.cjs'));
  const { stdout, stderr } = await run(process.execPath, ['../host-probe.cjs'], {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      LEADS_API_KEY: 'of-the-environment',
      LEADS_BASE_URL: 'http://127.0.0.1:1',
    },
  });
  expect(stderr).toBe('');
  const { states, read } = JSON.parse(stdout) as { states: unknown[]; read: string[] };
  expect(states).toHaveLength(entries.length + 2);
  for (const state of states) expect(state).toEqual(states[0]);
  expect(read.filter((name) => /LEADS|PROXY|HOME|XDG|CA_CERTS/i.test(name))).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
});

it.each(['cjs', 'esm'] as const)(
  'work where an application is bundled to one file, as %s',
  async (format) => {
    writeFileSync(
      join(project, 'bundled.mjs'),
      `import { sign, verify } from 'leads-cli/webhook';
     const choice = { scheme: 'github', secrets: 'octo' };
     async function main() {
       const signed = await sign({ id: 'a' }, choice);
       console.log((await verify(new Request('https://app.test/', signed), choice)).ok);
     }
     void main();`,
    );
    const bundle = await rolldown({
      cwd: project,
      input: 'bundled.mjs',
      platform: 'node',
    });
    const file = join(project, `out.${format === 'cjs' ? 'cjs' : 'mjs'}`);
    await bundle.write({ format, file, codeSplitting: false });
    await bundle.close();
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout).toBe('true\n');
  },
);

it.each([
  ['listen', ['listen', '--http', '--port', '0', '--token', 'a']],
  ['an inbox in memory', ['listen', '--http', '--port', '0', '--token', 'a', '--inbox', ':memory:']],
  ['demo', ['demo']],
  ['inbox list', ['inbox', 'list', '--inbox', import.meta.filename]],
] as const)('without libsql, %s names what installs it and is exit 3', async (_, words) => {
  const leads = join(project, 'node_modules/leads-cli/bin/leads.js');
  const env = { PATH: process.env['PATH'], HOME: join(project, 'without-libsql') };
  const failed = await run(process.execPath, [leads, ...words], { env }).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 3, stdout: '' });
  const { stderr } = failed as { stderr: string };
  expect(stderr).toContain('is not installed, or not for this platform');
  expect(stderr).toContain(`npm install libsql@${libsqlVersion}, with --global`);
});

it('without libsql, doctor says so of an inbox that is not there yet', async () => {
  const leads = join(project, 'node_modules/leads-cli/bin/leads.js');
  const env = { PATH: process.env['PATH'], HOME: join(project, 'doctor') };
  const failed = await run(process.execPath, [leads, 'doctor', '--json'], { env }).catch(
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code: 7 });
  const { stdout } = failed as { stdout: string };
  expect(stdout).toMatch(/"receiver.inbox","result":"fail","detail":"the package libsql is not installed/);
});

it('and the program load nothing but what node has and what is installed with them, and all of that', () => {
  const place = join(project, 'node_modules/leads-cli');
  const { optionalDependencies } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const loaded = readdirSync(join(place, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.c?js$/.test(name))
    .flatMap((name) => loadsOf(readFileSync(join(place, 'dist', name), 'utf8')))
    .map((name) => name.replace(/^libsql\/promise$/, 'libsql'))
    .filter(isLibrary);
  expect([...new Set(loaded)].sort()).toEqual(Object.keys(optionalDependencies).sort());
});

/** What a file loads, at its start or later. */
const loadsOf = (code: string): string[] =>
  [
    ...code.matchAll(
      /(?:(?:\b(?:require|import)|\.resolve)\(|\b(?:from|import))\s*(["'`])([.@a-z][\w@/:.-]*)\1/g,
    ),
  ].map(([, , name = '']) => name);

const isLibrary = (name: string): boolean =>
  !name.startsWith('.') && !builtinModules.includes(name.replace(/^node:/, ''));

it('load no other package, now or later', () => {
  const folder = join(project, 'node_modules/leads-cli/dist/library');
  const loaded = readdirSync(folder)
    .filter((name) => /\.c?js$/.test(name))
    .flatMap((name) => loadsOf(readFileSync(join(folder, name), 'utf8')));
  expect(loaded).toContain('node:net');
  expect(loaded.filter(isLibrary)).toEqual([]);
});
