import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { type ScriptedService, scriptedService } from '../../support/scripted-service.ts';

let box: Sandbox;
let env: Readonly<Record<string, string>>;
let ids: readonly string[];
beforeAll(async () => {
  box = await startSandbox({ leads: 25, maxLimit: 10 }, { clock: new FakeClock() });
  env = { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: box.url };
  ids = [...box.leads].map(({ id }) => id).reverse();
});
afterAll(() => box.close());

const open: ScriptedService[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function serviceOf(body: string, status = 200): Promise<ScriptedService> {
  const service = await scriptedService((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  open.push(service);
  return service;
}

const lines = (values: readonly string[]): string => values.map((value) => `${value}\n`).join('');

/** What a run says on stderr that fails: one line of JSON. */
const errorOf = ({ stderr }: { readonly stderr: string }) =>
  (
    JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as {
      error: Record<'code' | 'message' | 'hint', string>;
    }
  ).error;

describe('--jq', () => {
  it('runs once for the array of a list, and implies --json', async () => {
    const run = await leads(['list', '--limit', '3', '--jq', 'length, .[].id', '-q'], { env });
    expect(run).toMatchObject({ exitCode: 0, stdout: lines(['3', ...ids.slice(0, 3)]), stderr: '' });
  });

  it('runs once for each line of NDJSON, which is what export writes', async () => {
    const listed = await leads(['list', '--limit', 'all', '--format', 'ndjson', '--jq', '.id'], { env });
    const exported = await leads(['export', '-q', '--jq', '.id'], { env });
    for (const { stdout } of [listed, exported]) expect(stdout).toBe(lines(ids));
    const array = await leads(['export', '-q', '--json', '--jq', 'length'], { env });
    expect(array.stdout).toBe('25\n');
  });

  it('runs once for each page of api', async () => {
    const args = ['api', '/api/leads?limit=10', '--paginate', '--jq'];
    expect((await leads([...args, '.data[].id'], { env })).stdout).toBe(lines(ids));
    expect((await leads([...args, '.data | length'], { env })).stdout).toBe(lines(['10', '10', '5']));
  });

  it.each([
    ['config list', '.[0].key', 'profile\n'],
    ['config profiles', 'length', '0\n'],
    ['stats', '.leads // .total // "some" | type', undefined],
    ['show ID', '.id', undefined],
  ])('goes with %s', async (line, expression, expected) => {
    const words = line.split(' ').map((word) => (word === 'ID' ? (ids[0] ?? '') : word));
    const run = await leads([...words, '--jq', expression], { env });
    expect([run.exitCode, run.stderr.replace(/^(note|no ).*\n/gm, '')]).toEqual([0, '']);
    if (expected === undefined) expect(run.stdout).toMatch(/^.+\n$/);
    else expect(run.stdout).toBe(expected);
  });

  it.each([
    [['list', '--format', 'table'], /^--jq and --format table do not go together$/],
    [['export', '--format', 'csv'], /--jq and --format csv do not go together/],
    [['export', '-o', '/tmp/never'], /--jq writes text to stdout: it does not go with -o FILE/],
    [['export', '--gzip'], /it does not go with --gzip/],
    [['api', '/x', '--include'], /--include and --jq do not go together/],
    [['login'], /unknown option '--jq'/],
    [['demo'], /unknown option '--jq'/],
    [['list', '--format', 'nonsense'], /--format: 'nonsense' is not one of/],
  ])('is wrong usage with %j', async (words, message) => {
    const run = await leads([...words, '--jq', '.'], { env });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(errorOf(run).message).toMatch(message);
  });

  it('is wrong usage where it does not compile, before anything is asked', async () => {
    const { env: own, asked } = await serviceOf('{"data":[]}');
    for (const words of [['list'], ['api', '/x'], ['export']]) {
      const run = await leads([...words, '--jq', '.[0'], { env: own });
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      const { code, message, hint } = errorOf(run);
      expect([code, message]).toEqual(['usage', '--jq: syntax error, unexpected end of file']);
      expect(hint).toBeDefined();
    }
    expect(asked).toHaveLength(0);
  });

  it('ends with 6 where the filter fails on what came', async () => {
    const run = await leads(['list', '--limit', '2', '--jq', '.foo', '-q'], { env });
    expect(run).toMatchObject({ exitCode: 6, stdout: '' });
    expect(errorOf(run)).toEqual({
      code: 'invalid_data',
      message: 'jq: Cannot index array with string "foo"',
    });
    const { env: own } = await serviceOf('<html>');
    const html = await leads(['api', '/x', '--jq', '.'], { env: own });
    expect(html.exitCode).toBe(6);
    expect(errorOf(html).message).toMatch(/^jq: what the filter is to read is not JSON: /);
  });

  it('keeps the exit code of the command, and shows what came before it failed', async () => {
    const { env: own } = await serviceOf('{"data":[{"id":"a","n":1.0}],"total":5,"next":null}');
    const unproven = await leads(['export', '-q', '--jq', '.n'], { env: own });
    expect(unproven).toMatchObject({ exitCode: 6, stdout: '1.0\n' });
    expect(unproven.stderr).toMatch(/may be missing/);
    const { env: refusing } = await serviceOf('{"error":"no"}', 403);
    expect(await leads(['api', '/x', '--jq', '.a.b'], { env: refusing })).toMatchObject({
      exitCode: 4,
      stdout: '',
    });
  });

  it('writes errors as JSON, as --json does, also where what is wrong is not the filter', async () => {
    for (const words of [['--jq', '.'], ['--jq=.']]) {
      const run = await leads(['list', ...words]);
      expect([run.exitCode, errorOf(run).code]).toEqual([3, 'config']);
    }
  });

  it('shows errors of jq without what could drive a terminal', async () => {
    const { env: own } = await serviceOf('{"a":"\\u001b]0;x\\u0007"}');
    const run = await leads(['api', '/x', '--jq', '.a | error'], { env: own, terminal: 80 });
    expect([run.exitCode, errorOf(run).message]).toEqual([6, 'jq: \u001b]0;x\u0007']);
    expect(run.stderr).not.toMatch(/\u001b\]|\u0007/);
  });
});
