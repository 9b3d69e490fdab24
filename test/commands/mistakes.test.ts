import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { readShellLine } from '../support/printed-lines.ts';
import { homeWith, leads } from '../support/run.ts';

let sandbox: Sandbox;
let home: string;

beforeAll(async () => {
  sandbox = await startSandbox({ leads: 30, seed: 7 }, { clock: systemClock });
  const { url, apiKey } = sandbox;
  const account = { 'base-url': url, 'api-key': apiKey, 'api-key-origin': new URL(url).origin };
  home = homeWith(account);
});

afterAll(() => sandbox.close());

const run = (line: string) => leads(readShellLine(`leads ${line}`).words.slice(1), { home });

interface Mistake {
  readonly typed: string;
  /** Exit code; 2 unless it is said. */
  readonly code?: number;
  readonly error: string;
  readonly hint: string;
  /** What the hint asks for, and how that ends; 0 unless it is said. */
  readonly then: string;
  readonly ends?: number;
}

const helpOf = (command: string) => ({ hint: `see 'leads help ${command}'`, then: `help ${command}` });
const is = (name: string) => ({ hint: `it is 'leads ${name}' here`, then: name });
const swallowed = (flag: string, next: string) => {
  const hint = `to give ${next} as the value, write ${flag}=${next}`;
  return { error: `error: ${flag} <`, hint, then: '--version' };
};
const meant = (word: string, then: string) => ({ hint: `did you mean '${word}'?`, then });

const mistakes: readonly Mistake[] = [
  // Names of other tools, and slips.
  { typed: 'version', error: "unknown command 'version'", ...is('--version') },
  { typed: 'ls', error: "unknown command 'ls'", ...is('list') },
  { typed: 'replay lead_1', error: "unknown command 'replay'", ...is('inbox retry'), then: 'inbox retry -h' },
  { typed: 'auth login', error: "unknown command 'auth'", ...is('login'), then: 'login --help' },
  { typed: 'logs', error: "unknown command 'logs'", ...is('inbox list') },
  { typed: 'inbox ls', error: "unknown command 'inbox ls'", ...is('inbox list') },
  {
    typed: 'config profiles rm default',
    error: "unexpected argument 'rm'",
    ...is('config profiles remove'),
    then: 'config profiles remove -h',
  },
  { typed: 'export -o=', error: '-o= is no flag', hint: 'write -o VALUE', then: 'export --help' },
  { typed: 'lst', error: "unknown command 'lst'", ...meant('list', 'list') },
  { typed: 'help nope', error: "unknown command 'nope'", hint: 'exit-codes', then: 'help exit-codes' },
  { typed: '--verbose', error: 'no command is named', hint: "see 'leads --help'", then: '--help' },
  {
    typed: '--limit 3 list',
    error: "unknown option '--limit'",
    hint: 'after its name',
    then: 'list --limit 3',
  },
  { typed: 'list --limt 3', error: "unknown option '--limt'", ...meant('--limit', 'list --limit 3') },
  {
    typed: 'list --last-month',
    error: "'--last-month'",
    ...meant('--in last-month', 'list --in last-month'),
  },
  { typed: 'list --last-mnth', error: "'--last-mnth'", ...meant('--in last-month', 'list --in last-month') },
  {
    typed: 'list --in last-mnth',
    error: 'this- or last-week',
    ...meant('last-month', 'list --in last-month'),
  },
  { typed: 'list --csv', error: "'--csv'", ...meant('--format csv', 'list --format csv') },
  {
    typed: 'inbox list --rejected',
    error: "'--rejected'",
    ...meant('--verdict rejected', 'inbox list --verdict rejected'),
  },
  { typed: 'inbox list --status x', error: "'--status'", ...meant('--verdict', 'inbox list --verdict dead') },
  { typed: 'list --format jsno', error: 'is not one of table', ...meant('json', 'list --format json') },
  { typed: 'config get api-keyy', error: "no setting 'api-keyy'", ...meant('api-key', 'config get api-key') },
  { typed: 'list –json', error: "'–json' begins with a dash", ...meant('--json', 'list --json') },
  { typed: 'list –-limit 3', error: 'is no hyphen', ...meant('--limit', 'list --limit 3') },
  { typed: 'export –o x', error: 'is no hyphen', ...meant('-o', 'export -h') },
  // Words that are missing, or too many.
  { typed: 'list anna lead_1', error: "unexpected argument 'lead_1'", ...helpOf('list') },
  { typed: 'list --status', error: '--status <status>: the value is missing', ...helpOf('list') },
  { typed: 'export -o', error: 'the value is missing', ...helpOf('export') },
  { typed: 'config set', error: "missing required argument 'key'", ...helpOf('config set') },
  { typed: 'inbox retry', error: 'give the ids of leads', ...helpOf('inbox retry') },
  // A flag in the place of a value, as behind a variable that is empty.
  { typed: 'listen --token --http', ...swallowed('--token', '--http') },
  { typed: 'export -o --resume', ...swallowed('--output', '--resume') },
  { typed: 'export -qo -n 5', ...swallowed('--output', '-n') },
  { typed: 'list --status -vq', ...swallowed('--status', '-vq') },
  { typed: 'list --status --', ...swallowed('--status', '--') },
  { typed: '--profile --verbose list', ...swallowed('--profile', '--verbose') },
  // Values that are none.
  { typed: 'list --limit x', error: "--limit: 'x' is not a whole number", ...helpOf('list') },
  { typed: "list --profile ''", error: '--profile: the value is empty', hint: 'it must be', then: '-V' },
  { typed: 'list --since yestarday', error: 'is not a point in time: a date such as', ...helpOf('list') },
  { typed: 'list --where source', error: 'is not a condition such as', ...helpOf('list') },
  { typed: 'list --watch 0s', error: 'is not a duration of a second or more', ...helpOf('list') },
  { typed: 'listen --token a --port 99999', error: 'is not a whole number from 0', ...helpOf('listen') },
  { typed: 'listen --token a --forward-to ftp://x', error: 'is not a URL', ...helpOf('listen') },
  { typed: 'send nope', error: "'nope' is not a URL", ...helpOf('send') },
  { typed: 'config set timeout x', error: "timeout: 'x' is not a duration", ...helpOf('config set') },
  // What does not go together, or lacks something.
  {
    typed: 'export --resume',
    error: '--resume needs --output',
    hint: 'add --output <file>',
    then: 'export -h',
  },
  {
    typed: 'audit --header a:b',
    error: '--header needs --send-to',
    hint: 'add --send-to <url>',
    then: 'audit --send-to https://receiver.example/ --help',
  },
  {
    typed: 'inbox prune',
    error: '--before says what goes',
    hint: 'inbox prune --before 30d',
    then: 'inbox prune --before 30d',
  },
  {
    typed: 'inbox erase',
    error: 'give one of --id',
    hint: 'inbox erase --email',
    then: 'inbox erase --email ada@example.com --dry-run',
    ends: 7,
  },
  { typed: 'check', error: 'which receiver?', hint: 'leads check https://localhost', then: 'check --list' },
  {
    typed: 'send :9',
    code: 3,
    error: 'nothing says how deliveries are signed',
    hint: "'leads config set webhook.token'",
    then: 'send :9 --token T --dry-run',
  },
  {
    typed: 'listen',
    code: 3,
    error: 'nothing says who may deliver',
    hint: '--token T',
    then: 'listen --token T --help',
  },
  {
    typed: 'api https://else.example/x',
    error: 'the API key is for http://127',
    hint: '/api/leads',
    then: 'api /api/leads',
  },
  {
    typed: 'api /api/leads --input x',
    error: '--input and --method GET do not go together',
    hint: '--method is POST, PUT',
    then: 'api -h',
  },
  {
    typed: 'send https://app.example/ --token a',
    error: 'is another machine',
    hint: '--dry-run shows',
    then: 'send https://app.example/ --token a --dry-run',
  },
  {
    typed: 'list --profile nope',
    code: 3,
    error: "there is no profile 'nope'",
    hint: 'profiles: default',
    then: 'list --profile default',
  },
  {
    typed: 'config profiles remove nope',
    error: "there is no profile 'nope'",
    hint: 'profiles: default',
    then: 'config profiles',
  },
];

it.each(mistakes)('leads $typed', async ({ typed, code = 2, error, hint, then, ends = 0 }) => {
  const { exitCode, stdout, stderr } = await run(typed);
  expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
  const [first, second, ...rest] = stderr.trimEnd().split('\n');
  expect(first).toMatch(/^error: /);
  expect(first).toContain(error);
  expect(second).toMatch(/^hint: /);
  expect(second).toContain(hint);
  expect(rest).toEqual([]);
  // A whole command line that the hint prints is one that is understood, word for word.
  for (const [, printed = ''] of second?.matchAll(/'leads ([^'…]+)'/g) ?? [])
    expect((await run(printed)).stderr).not.toMatch(/^error: (?:unknown|unexpected)/);
  expect((await run(then)).exitCode).toBe(ends);
});

it.each(['list --json id,email', 'export --json id,email'])('names --fields for %s', async (typed) => {
  const { exitCode, stderr } = await run(typed);
  expect(exitCode).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { hint: 'fields are named by --fields: --json --fields id,email' },
  });
  expect((await run('list --json --fields id,email')).exitCode).toBe(0);
});

it.each([
  ['3000', 'http://localhost:3000/'],
  [':3000/hook', 'http://localhost:3000/hook'],
  ['localhost:3000', 'http://localhost:3000/'],
  ['127.0.0.1:3000/hook?a=1', 'http://127.0.0.1:3000/hook?a=1'],
  ['[::1]:3000', 'http://[::1]:3000/'],
  ['app.example/hook', 'https://app.example/hook'],
  ['receiver:8443', 'https://receiver:8443/'],
])('reads %s as %s', async (typed, url) => {
  const { stdout } = await run(`send ${typed} --token T --dry-run --yes`);
  expect(stdout).toContain(url);
});

it('reads a base URL without its protocol', async () => {
  const { host } = new URL(sandbox.url);
  expect((await run(`list --limit 1 --base-url ${host}`)).exitCode).toBe(0);
});
