import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
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
}, 60_000);

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

it('are one for an application that imports them and requires them: errors, inboxes and leases', async () => {
  const place = await projectWithPackage(['libsql', '@libsql', '@neon-rs', 'detect-libc']);
  copyFileSync(join(root, 'test/library/package/two-copies.cjs'), join(place, 'two-copies.cjs'));
  const { stdout, stderr } = await run(process.execPath, ['two-copies.cjs'], { cwd: place });
  expect([stdout, stderr]).toEqual(['one\n', '']);
});

it.each(['cjs', 'esm'] as const)(
  'work where an application is bundled to one file, as %s',
  async (format) => {
    writeFileSync(
      join(project, 'bundled.mjs'),
      `import { createReceiver, memoryInbox } from 'leads-cli/receiver';
     import { sign, verify } from 'leads-cli/webhook';
     const choice = { scheme: 'github', secrets: 'octo' };
     async function main() {
       const signed = await sign({ id: 'a' }, choice);
       const receiver = createReceiver({ ...choice, inbox: memoryInbox(), onLead() {} });
       const { status } = await receiver.fetch(new Request('https://app.test/', signed));
       await receiver.close();
       console.log((await verify({ url: '/', ...signed }, choice)).ok, status);
     }
     void main();`,
    );
    const bundle = await rolldown({
      cwd: project,
      input: 'bundled.mjs',
      platform: 'node',
      external: /^libsql/,
    });
    const file = join(project, `out.${format === 'cjs' ? 'cjs' : 'mjs'}`);
    await bundle.write({ format, file, codeSplitting: false });
    await bundle.close();
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout).toBe('true 200\n');
  },
);

it('shared-secret is at most 20 kB, compressed, where a bundler makes one file of all that it can load', async () => {
  writeFileSync(join(project, 'function.mjs'), "export { verify } from 'leads-cli/shared-secret';");
  const bundle = await rolldown({ cwd: project, input: 'function.mjs', platform: 'node' });
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false });
  await bundle.close();
  const [{ code }] = output;
  expect(code).toContain('webhook-signature');
  expect(gzipSync(code).length).toBeLessThanOrEqual(20_000);
});

it('answer 503 where the files of the receiver vanished under the process', async () => {
  const copy = join(project, 'replaced');
  cpSync(join(project, 'node_modules'), join(copy, 'node_modules'), { recursive: true });
  const folder = join(copy, 'node_modules/leads-cli/dist/library');
  for (const name of readdirSync(folder)) if (name.startsWith('start-receiver-')) rmSync(join(folder, name));
  writeFileSync(
    join(copy, 'application.mjs'),
    `import { once } from 'node:events';
     import { createServer } from 'node:http';
     import { createReceiver, memoryInbox } from 'leads-cli/receiver';
     const errors = [];
     const onError = (error) => errors.push(error.code);
     const receiver = createReceiver({ scheme: 'token', secrets: 'a', inbox: memoryInbox(), onLead() {}, onError });
     const server = createServer(receiver.node).listen(0, '127.0.0.1');
     await once(server, 'listening');
     const answers = [
       await fetch('http://127.0.0.1:' + server.address().port, { method: 'POST', body: '{}' }),
       await receiver.fetch(new Request('http://localhost', { method: 'POST', body: '{}' })),
     ];
     const statuses = answers.map(({ status }) => status);
     const ready = await receiver.ready().catch(({ code }) => code);
     await receiver.close();
     server.close();
     server.closeAllConnections();
     console.log(JSON.stringify([...statuses, await answers[0].text(), ready, ...errors]));`,
  );
  const { stdout } = await run(process.execPath, ['application.mjs'], { cwd: copy });
  expect(JSON.parse(stdout)).toEqual([
    503,
    503,
    expect.stringContaining('cannot_store'),
    'ERR_MODULE_NOT_FOUND',
    'ERR_MODULE_NOT_FOUND',
  ]);
});

it.each([
  ['listen', ['listen', '--http', '--port', '0', '--token', 'a']],
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

it.each(['import', 'require'] as const)(
  'without libsql, ready() of a receiver rejects with a ConfigError: %s',
  async (how) => {
    const file = join(project, `receiver-by-${how}.${how === 'import' ? 'mjs' : 'cjs'}`);
    const names = '{ ConfigError, createReceiver, fileInbox }';
    const load = {
      import: `import ${names} from 'leads-cli/receiver'`,
      require: `const ${names} = require('leads-cli/receiver')`,
    };
    writeFileSync(
      file,
      `${load[how]};
     const receiver = createReceiver({ scheme: 'token', secrets: 'a', inbox: fileInbox('a.db'), onLead() {} });
     receiver.ready().catch((error) => {
       console.log(JSON.stringify([error instanceof ConfigError, error.message, error.hint]));
       return receiver.close();
     });`,
    );
    const { stdout } = await run(process.execPath, [file], { cwd: project });
    expect(JSON.parse(stdout)).toEqual([
      true,
      expect.stringContaining('the package libsql is not installed'),
      expect.stringContaining(`npm install libsql@${libsqlVersion}`),
    ]);
  },
);

it('and the program load nothing but what node has and what is installed with them, and all of that', () => {
  const place = join(project, 'node_modules/leads-cli');
  const { optionalDependencies } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const loaded = readdirSync(join(place, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.c?js$/.test(name))
    .flatMap((name) => loadsOf(readFileSync(join(place, 'dist', name), 'utf8')))
    .map(({ name }) => name.replace(/^libsql\/promise$/, 'libsql'))
    .filter(isLibrary);
  expect([...new Set(loaded)].sort()).toEqual(Object.keys(optionalDependencies).sort());
});

/** What a file loads: `isCall` when it does so while it runs. */
const loadsOf = (code: string) =>
  [
    ...code.matchAll(
      /((?:\b(?:require|import)|\.resolve)\(|\b(?:from|import))\s*(["'`])([.@a-z][\w@/:.-]*)\2/g,
    ),
  ].map(([, how = '', , name = '']) => ({ name, isCall: how.endsWith('(') }));

const isLibrary = (name: string): boolean =>
  !name.startsWith('.') && !builtinModules.includes(name.replace(/^node:/, ''));

/** The libraries that the entry can load, at the import or later. */
function librariesOf(entry: string): { readonly now: Set<string>; readonly later: Set<string> } {
  const folder = join(project, 'node_modules/leads-cli/dist/library');
  const found = { now: new Set<string>(), later: new Set<string>() };
  const seen = new Set<string>();
  const visit = (file: string, when: 'now' | 'later'): void => {
    if (seen.has(`${when} ${file}`)) return;
    seen.add(`${when} ${file}`);
    for (const { name, isCall } of loadsOf(readFileSync(join(folder, file), 'utf8'))) {
      const then = isCall ? 'later' : when;
      if (name.startsWith('./')) visit(name.slice('./'.length), then);
      else if (isLibrary(name)) found[then].add(name);
    }
  };
  visit(`${entry}.js`, 'now');
  return found;
}

it.each([
  ['webhook', []],
  ['shared-secret', []],
  ['receiver', ['libsql', 'libsql/promise']],
  ['client', []],
  ['testing', []],
])('%s imports no library, and needs later %j', (entry, expected) => {
  const { now, later } = librariesOf(entry);
  expect([...now]).toEqual([]);
  expect([...later].sort()).toEqual(expected);
});
