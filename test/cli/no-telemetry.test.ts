import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { processHost } from '../../src/host.ts';
import { commands } from '../../src/program.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { binary, environment, listenProcess, type ListenProcess } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';

const preload = fileURLToPath(new URL('../support/watch-sockets.cjs', import.meta.url));
const home = freshHome();
const sockets = join(home, 'sockets');
let sandbox: Sandbox;
let receiver: ListenProcess;

beforeAll(async () => {
  sandbox = await startSandbox({ leads: 30, seed: 7 }, { clock: processHost().clock });
  receiver = await listenProcess(['--http', '--port', '0', '--token', 'secret', '--backfill', '1h'], {
    home,
    env: watched(),
  });
});
afterAll(async () => {
  await receiver.end('SIGTERM');
  await sandbox.close();
});

/** Of a host that is a name, there may be several addresses. */
const byName = (url: string): string => url.replace('127.0.0.1', 'localhost');

const watched = (): Record<string, string> => ({
  NODE_OPTIONS: `--require ${preload}`,
  SOCKETS: sockets,
  LEADS_BASE_URL: byName(sandbox.url),
  LEADS_API_KEY: sandbox.apiKey,
});

/** What each command is called with; those that only read what is here name no address at all. */
const lines: Readonly<Record<string, (receiver: string) => string>> = {
  api: () => 'api /leads',
  audit: () => 'audit --since 1h',
  check: (url) => `check ${url} --token secret --only credential`,
  completion: () => 'completion bash',
  config: () => 'config list',
  demo: () => 'demo',
  doctor: () => 'doctor',
  export: () => 'export',
  inbox: () => 'inbox list',
  inspect: () => 'inspect --port 0',
  list: () => 'list',
  listen: () => 'listen --http --port 0 --token secret --inbox :memory:',
  login: () => 'login',
  logout: () => 'logout',
  sandbox: () => 'sandbox --port 0 --leads 3',
  send: (url) => `send ${url} --token secret --count 1`,
  show: () => 'show lead_1',
  stats: () => 'stats',
  verify: () => 'verify - --token secret',
};

/** They go on until Ctrl-C, and say that they have begun. */
const serving = ['inspect', 'listen', 'sandbox'];

it('knows every command', () => {
  expect(Object.keys(lines).sort()).toEqual(commands.map(({ name }) => name).sort());
});

/** What is connected to otherwise: a database, and a proxy, which the service and the receiver are reached through. */
const otherwise = ({ port }: URL): readonly string[] => [
  `inbox list --inbox postgres://a:b@localhost:${port}/c?sslmode=disable`,
  'list --base-url https://leads.test --retries 0',
  'export --base-url https://leads.test --retries 0',
  'send https://leads.test --token secret --count 1 --yes',
];

it('no command connects to, or looks up, an address that was not named', async () => {
  const named = Object.entries(lines).map(([name, line]) => [name, line(byName(receiver.url))] as const);
  const other = otherwise(new URL(receiver.url)).map((line) => [line, line] as const);
  for (const [name, line] of [...named, ...other]) {
    const argv = line.split(' ');
    const run = execa(process.execPath, [binary, ...argv], {
      reject: false,
      input: name === 'verify' ? `POST / HTTP/1.1\nX-Webhook-Token: secret\n\n{"id":"a"}` : sandbox.apiKey,
      env: { ...environment(home), ...watched(), HTTPS_PROXY: byName(sandbox.url) },
    });
    if (serving.includes(name)) run.stderr.once('data', () => run.kill('SIGINT'));
    const { exitCode, stderr } = await run;
    // What ends as a mistake asked nobody anything.
    expect(exitCode, `${name}: ${stderr}`).not.toBe(2);
  }
  expect(existsSync(sockets)).toBe(true);
  const found = new Set(readFileSync(sockets, 'utf8').trim().split('\n'));
  // A watch that sees nothing would prove nothing.
  expect(found).toContain(new URL(byName(sandbox.url)).host);
  expect(found).toContain(new URL(byName(receiver.url)).host);
  // The tour of `demo` has a service and a receiver of its own, on this machine as these are.
  expect([...found].filter((address) => !/^(127\.0\.0\.1|localhost|::1):\d+$/.test(address))).toEqual([]);
}, 180_000);
