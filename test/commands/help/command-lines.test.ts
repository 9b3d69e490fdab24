import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeProgram } from '../../../src/commands/help/help-data.ts';
import { InterruptedError } from '../../../src/errors.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { parseArgv } from '../../../src/parse-argv.ts';
import { commands } from '../../../src/program.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { arrivalOf } from '../../support/both-sides.ts';
import { printedLines, readShellLine } from '../../support/printed-lines.ts';
import { freshHome, leads, type LiveRun, type Run, startLeads } from '../../support/run.ts';
import { until } from '../../support/until.ts';

/** These are parsed only. */
const notRun: readonly (readonly [line: RegExp, reason: string])[] = [
  [/postgres:\/\//, 'needs a database on that host; test/inbox/postgres has one'],
  [/^leads (inspect|listen .*--inspect)/, 'serves a page; test/cli/inspect.test.ts does'],
  [/^leads config edit/, 'opens an editor; test/commands/config.test.ts does'],
  [/^leads demo/, 'starts the built program many times; test/cli/demo.test.ts does'],
];

/** Commands that end with 7 where they find what they look for, or do not find it. */
const mayFind = /^leads (audit|check|doctor|inbox erase|show|stats|verify)\b/;

const sandboxKey = 'sandbox-key';
const template = freshHome();
const started: LiveRun[] = [];
const app = createServer((request, response) => {
  request.resume().on('end', () => response.end('{"status":"accepted"}'));
});
/** What stands in the lines for a service, a receiver and an application. */
let addresses: readonly (readonly [printed: RegExp, real: string])[] = [];

/** Starts a command that goes on, and waits until it says that it is ready. */
async function ready(argv: readonly string[], home: string, env = {}): Promise<LiveRun> {
  const run = startLeads(argv, { home, env, clock: systemClock });
  let isOver = false;
  void run.done.then(() => (isOver = true));
  await until(() => isOver || /listening|ready/.test(run.stdout.text() + run.stderr.text()), argv.join(' '));
  return run;
}

const interrupted = (run: LiveRun): Promise<Run> => {
  run.abort(new InterruptedError('SIGINT'));
  return run.done;
};

const urlIn = (run: LiveRun): string =>
  /https?:\/\/[^\s",]+/.exec(run.stderr.text() + run.stdout.text())?.[0] ?? '';

beforeAll(async () => {
  const [sandbox, receiver] = await Promise.all([
    ready(['sandbox', '--port', '0', '--leads', '30', '--api-key', sandboxKey], freshHome()),
    ready(['listen', '--http', '--port', '0', '--token', 'secret'], freshHome()),
    once(app.listen(0, '127.0.0.1'), 'listening'),
  ]);
  started.push(sandbox, receiver);
  const baseUrl = urlIn(sandbox);
  addresses = [
    [/^https:\/\/localhost:8443\S*/, urlIn(receiver)],
    [/^http:\/\/localhost\b\S*/, `http://127.0.0.1:${(app.address() as AddressInfo).port}/`],
    [/^(https:\/\/api\.example\.com|http:\/\/127\.0\.0\.1:8080)/, baseUrl],
  ];
  mkdirSync(join(template, 'config'), { mode: 0o700 });
  const profile = {
    'base-url': baseUrl,
    'api-key': sandboxKey,
    'api-key-origin': new URL(baseUrl).origin,
  };
  writeFileSync(
    join(template, 'config', 'config.json'),
    JSON.stringify({ profiles: { default: profile, staging: profile } }),
    { mode: 0o600 },
  );
  const ids = ['lead_123', ...Array.from({ length: 19 }, (_, i) => `lead_${i}`)];
  const body = (id: string): Buffer => Buffer.from(JSON.stringify({ id, category: 'solar' }));
  for (const location of [join(template, 'data', 'inbox.db'), join(template, 'damaged.db')]) {
    const inbox = await openInbox({ location, clock: systemClock });
    await inbox.take(ids.map((id) => arrivalOf(id, body(id), Date.now())));
    await inbox.close();
  }
  const files = {
    'key.txt': sandboxKey,
    'token.txt': 'secret',
    'current.txt': 'secret',
    'former.txt': 'old-secret',
    'secret.txt': 's3cret',
    'stripe.txt': 'whsec_s3cret',
    'paddle.txt': 's3cret',
    'body.json': '{"id":"lead_1"}',
    'delivery.http': 'POST /hook HTTP/1.1\nhost: app.example\nstripe-signature: t=1,v1=00\n\n{"id":"lead_1"}',
    'delivery.har': JSON.stringify({
      log: {
        entries: [
          {
            request: {
              method: 'POST',
              url: 'https://app.example/hook',
              headers: [{ name: 'stripe-signature', value: 't=1,v1=00' }],
              postData: { mimeType: 'application/json', text: '{"id":"lead_1"}' },
            },
          },
        ],
      },
    }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(template, name), text);
}, 60_000);

afterAll(async () => {
  await Promise.all(started.map(interrupted));
  app.closeAllConnections();
  app.close();
});

/** A printed word with the address and the folder of this test, and a rate that is kept for a second. */
function realWord(word: string, home: string): string {
  if (word === '10s') return '1s';
  const [printed, real] = addresses.find(([pattern]) => pattern.test(word)) ?? [];
  if (printed !== undefined && real !== undefined) return word.replace(printed, real);
  return /^[\w-]+(\.(bookmark|csv|db|gz|har|http|json|ndjson|txt|xlsx|xml))+$/.test(word)
    ? join(home, word)
    : word;
}

async function runLine(line: string): Promise<Run> {
  const home = freshHome();
  cpSync(template, home, { recursive: true });
  // A profile has a key, or a program that prints one.
  if (line.includes('api-key-command')) await leads(['config', 'unset', 'api-key'], { home });
  const { words, stdin } = readShellLine(line);
  const argv = words.slice(1).map((word) => realWord(word, home));
  const [name] = argv;
  if (name !== 'listen' && name !== 'sandbox') {
    const typed = name === 'login' ? sandboxKey : stdin && readFileSync(join(home, stdin), 'utf8');
    return leads(argv, { home, ...(typed === undefined ? {} : { stdin: typed }) });
  }
  const port = argv.indexOf('--port');
  const listening = port === -1 ? [...argv, '--port', '0'] : argv.with(port + 1, '0');
  const run = await ready(listening, home);
  if (!argv.includes('--count')) return interrupted(run);
  await leads(['send', urlIn(run), '--token', argv[argv.indexOf('--token') + 1] ?? '', '--sample', '3'], {
    home,
  });
  return run.done;
}

const lines = printedLines(await describeProgram(commands));
const isRun = (line: string): boolean => !notRun.some(([pattern]) => pattern.test(line));

it.each(lines)('%s', async (line) => {
  const { words } = readShellLine(line);
  expect(words[0]).toBe('leads');
  expect(await parseArgv(words.slice(1))).toBeDefined();
  if (!isRun(line)) return;
  const { exitCode, stderr } = await runLine(line);
  expect(mayFind.test(line) ? [0, 7] : [0], stderr).toContain(exitCode);
});
