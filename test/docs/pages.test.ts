import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../src/library/testing.ts';
import { sign } from '../../src/library/webhook.ts';
import { freePort } from '../support/free-port.ts';
import { binary, environment } from '../support/listen-process.ts';
import { type Block, blocksOf, commandsOf, pages } from '../support/printed-lines.ts';
import { freshHome } from '../support/run.ts';
import { newDatabase, superuser, urlOf } from '../support/postgres/address.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';
import { absentLines } from './same-output.ts';
import { type Drawn, inTerminal } from './terminal.ts';
import { openServer } from '../support/open-server.ts';

const root = new URL('../../', import.meta.url);
const ci = ['.ci/run', '.ci/release'].map((file) => readFileSync(new URL(file, root), 'utf8')).join('\n');

/** What installs the program is run by the scripts of .ci/ themselves. */
const runByCi: readonly (readonly [line: RegExp, step: string])[] = [
  [/^npm ci && npm run demo$/, 'bin/leads" demo'],
  [/^npm cit$/, 'npm cit'],
  [/^npm pack && npm install --global /, 'npm install --silent --global'],
  [/^npm ci && node \.config\/binary\/write\.mjs$/, 'node .config/binary/write.mjs'],
];

const standIns = {
  cloudflared: 'exec curl -sS -o /dev/null "$3"',
  ssh: 'shift 3; exec "$@"',
  pass: 'echo sandbox-key',
  'xdg-open': ':',
};

/** A service whose parameters have other names, for what `doctor --learn` prints. */
const otherNames = {
  pagination: 'page',
  params: { page: 'p', category: 'vertical' },
  defaultLimit: 50,
  maxLimit: 100,
} as const;

const servesOn = /^(?:ssh .* )?leads (?:listen|sandbox|inspect)\b/;
const mayFind = /^leads (?:audit|check|doctor|inbox erase|show|stats|verify)\b/;
const stopped = [0, 130];

interface Place {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly real: (line: string) => string;
}

/** The first line that matches, of a command that goes on until the test ends. */
async function serving(
  line: string,
  ready: RegExp,
  { env, home }: Pick<Place, 'env' | 'home'>,
): Promise<void> {
  const child = spawn('bash', ['-c', `exec ${line}`], { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGTERM')) await ended;
  });
  let text = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (ready.test(text)) resolve();
      });
    }
    child.once('exit', () => reject(new Error(`${line} ended: ${text}`)));
  });
}

/** A service, a receiver that has most of its leads, and an application, in the place of the printed addresses. */
async function preparePlace(text: string): Promise<Place> {
  const home = freshHome();
  const programs = mkdtempSync(join(tmpdir(), 'leads-programs-'));
  symlinkSync(binary, join(programs, 'leads'));
  for (const [name, text] of Object.entries(standIns))
    writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const path = [programs, join(process.execPath, '..'), process.env['PATH']].join(delimiter);
  const env = { PATH: path, TMPDIR: tmpdir(), TOKEN: 'secret', ...environment(home) };
  const app = createServer((request, response) => {
    request.resume().on('end', () => response.end('{"status":"accepted"}'));
  });
  const appAt = await openServer(app);
  onTestFinished(appAt.close);
  const [api, receiver] = [await freePort(), await freePort()];
  const { headers, body } = await sign(
    { id: 'lead_1', category: 'solar' },
    { scheme: 'stripe', secrets: 'whsec_s3cret' },
  );
  const head = Object.entries({ host: 'app.example.com', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const spaced = JSON.stringify(JSON.parse(Buffer.from(body).toString()), null, 2);
  const stripe = [
    'POST /hook HTTP/1.1',
    ...head.filter((line) => !line.startsWith('content-length')),
    '',
    spaced,
  ].join('\n');
  const files = {
    'token.txt': 'secret',
    'current.txt': 'secret',
    'former.txt': 'former',
    'secret.txt': 's3cret',
  };
  const more = {
    'github.txt': 's3cret',
    'stripe.txt': 'whsec_s3cret',
    'delivery.http': stripe,
    'south.ndjson': '{"id":"s1"}\n',
  };
  writeFileSync(
    join(home, 'lead.json'),
    '{"id":"lead_31sei4d","category":"moving","contact":{"name":"Sam"}}',
  );
  for (const [name, text] of Object.entries({ ...files, ...more })) writeFileSync(join(home, name), text);
  const place = { home, env };
  await serving(`leads listen --port ${receiver} --token secret`, /listening on/, place);
  // Leads that were delivered are not new any more: only what is audited is.
  const webhook = `--webhook https://localhost:${receiver}/ --token secret --retry none --delivery-faults`;
  const pushed = text.includes('$ leads audit') ? `${webhook} drop=5%,badSignature=5%,duplicate=10%` : '';
  if (text.includes('vertical=')) {
    const sandbox = await startSandbox({ port: api, ...otherNames });
    onTestFinished(() => sandbox.close());
  } else await serving(`leads sandbox --port ${api} ${pushed}`, /ready:/, place);
  await promisify(execFile)(
    'bash',
    ['-c', `echo sandbox-key | leads login --base-url http://127.0.0.1:${api}`],
    { env },
  );
  const database = text.includes('db.example') ? await ownDatabase() : '';
  return {
    ...place,
    real: (line) =>
      line
        .replaceAll(/postgres:\/\/\w+@db\.example\/leads/g, database)
        .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${api}`)
        .replaceAll(/https?:\/\/localhost:(?:8443|8080)/g, (url) =>
          url.startsWith('https') ? `https://localhost:${receiver}` : `http://127.0.0.1:${api}`,
        )
        .replaceAll('http://localhost:3000', appAt.url),
  };
}

async function ownDatabase(): Promise<string> {
  const address = await sharedPostgres();
  if (address === undefined) throw new Error('these lines need PostgreSQL');
  return urlOf(address, { database: await newDatabase(address) });
}

/** Runs a line that goes on until Ctrl-C; what receives gets a lead twice, and once with another token. */
function untilStopped(line: string, { home, env }: Place): Promise<Drawn> {
  const own = / inspect\b/.test(line) ? env : { ...env, LEADS_DATA_DIR: mkdtempSync(join(home, 'data-')) };
  const address = /(?:listening on|ready:|inspect .* at:)\s+(https?:\/\/[^\s,]+)/;
  const counts = line.includes('--count');
  const withPort = / --port \d+/.test(line)
    ? line.replace(/ --port \d+/, ' --port 0')
    : line.replace(/(?= >|$)/, ' --port 0');
  let url = '';
  const send = (args: string): Promise<unknown> =>
    promisify(execFile)('bash', ['-c', `leads send ${url} ${args}`], { env: own, cwd: home }).catch(
      (error: unknown) => error,
    );
  const deliver = async (): Promise<string> => {
    if (counts) {
      await send('--token secret --sample 3');
      return '';
    }
    if (line.includes('listen')) {
      await send('--token secret --lead lead.json');
      await send('--token secret --lead lead.json');
      await send('--token wrong');
    }
    return '\u0003';
  };
  const seen = { test: (text: string): boolean => (url = address.exec(text)?.[1] ?? '') !== '' };
  return inTerminal(withPort.replace(/--admin \d+/, '--admin 0'), {
    answers: [[seen, deliver]],
    env: own,
    cwd: home,
  });
}

async function runLine(line: string, place: Place): Promise<Drawn> {
  const { home: cwd, env, real } = place;
  if (servesOn.test(line)) return untilStopped(real(line), place);
  if (line.includes('api-key-command')) await inTerminal('leads config unset api-key', { env, cwd });
  return inTerminal(real(line), { answers: [[/API key: /, () => 'sandbox-key\r']], env, cwd });
}

async function runCommands(block: Block, place: Place): Promise<void> {
  let drawn = '';
  for (const printed of commandsOf(block)) {
    const line = printed.replace(/ +# .*$/, '');
    const step = runByCi.find(([pattern]) => pattern.test(line))?.[1];
    if (step !== undefined) {
      expect(ci).toContain(step);
      continue;
    }
    const { exitCode, text } = await runLine(line, place);
    drawn += text;
    const good = servesOn.test(line) ? stopped : mayFind.test(line) ? [0, 7] : [0];
    expect(good, `${line}\n${text}`).toContain(exitCode);
  }
  if (block.kind !== 'console') return;
  const printed = block.code.split('\n').filter((line) => !line.startsWith('$ '));
  expect(absentLines(printed, drawn), drawn).toEqual([]);
}

/** As cron does it: a bare `%` ends the command, and there is little in the environment. What is printed is mailed. */
async function runCron(line: string, { home, env, real }: Place): Promise<string> {
  const [, command = ''] = /^(?:[\d*/,-]+ +){5}(.*)$/.exec(line) ?? [];
  expect(command, 'five fields and a command').not.toBe('');
  expect(command.replaceAll('\\%', ''), 'a bare % ends the command').not.toContain('%');
  const { LEADS_CONFIG_DIR = '', LEADS_DATA_DIR = '', PATH = '' } = env;
  const key = env['LEADS_API_KEY'] === undefined ? {} : { LEADS_API_KEY: env['LEADS_API_KEY'] };
  const sparse = { HOME: home, SHELL: '/bin/sh', LOGNAME: 'ops', PATH, LEADS_CONFIG_DIR, LEADS_DATA_DIR };
  const { stdout, stderr } = await promisify(execFile)(
    '/bin/sh',
    ['-c', real(command.replaceAll('\\%', '%'))],
    {
      env: { ...sparse, ...key, LEADS_WEBHOOK_TOKEN: 'secret' },
      cwd: home,
    },
  ).catch((error: unknown) => error as { stdout: string; stderr: string });
  return stdout + stderr;
}

async function runBlock(block: Block, place: Place): Promise<void> {
  // walk.test.ts runs it, behind all that it needs.
  if (block.marks.includes('ci')) return;
  switch (block.kind) {
    case 'sh':
    case 'console':
      return runCommands(block, place);
    case 'cron':
      for (const line of block.code.trim().split('\n')) {
        const first = await runCron(line, place);
        // What a first night repaired is no reason to write: the second one has nothing to say.
        expect(line.includes('--expect') ? '' : await runCron(line, place), first).toBe('');
        const env = { ...place.env, LEADS_API_KEY: 'wrong', LEADS_DATA_DIR: '/nowhere' };
        const failures = (await runCron(line, { ...place, env })).match(/^(?:error|warning): /gm) ?? [];
        // Each command of the line speaks for itself.
        expect(failures.length).toBeGreaterThanOrEqual(line.split(/\bleads (?=[a-z])/).length - 1);
      }
      return;
    case 'json':
      JSON.parse(block.code);
      writeFileSync(join(place.home, 'sandbox.json'), place.real(block.code));
      return;
    case 'sql': {
      const address = await sharedPostgres();
      if (address === undefined) throw new Error('these lines need PostgreSQL');
      const database = new URL(place.real('postgres://owner@db.example/leads')).pathname.slice(1);
      const sql = superuser(address, database);
      const role = `receiver_${database}`;
      await sql.unsafe(`CREATE ROLE ${role}`);
      await sql.unsafe(block.code.replaceAll('receiver', role));
      await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await sql.end();
      return;
    }
    default:
      expect.unreachable(`nothing runs a block of '${block.kind}'`);
  }
}

describe.each(pages)('$path', ({ path, text }) => {
  it('has blocks that are fenced only, and files that are there', () => {
    const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
    expect(prose.split('\n').filter((line) => line.startsWith('    '))).toEqual([]);
    const links = [...prose.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link);
    for (const link of links) expect(readFileSync(new URL(link, new URL(path, root)), 'utf8')).not.toBe('');
  });

  it('runs as printed', { timeout: 240_000 }, async () => {
    const place = await preparePlace(text);
    for (const block of [...blocksOf(text)].sort(
      (a, b) => Number(b.kind === 'json') - Number(a.kind === 'json'),
    ))
      if (block.kind !== 'js' || path !== 'docs/library.md') await runBlock(block, place);
  });
});
