import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretsIn, withHiddenSecrets } from '../../src/config/extra-headers.ts';
import { createClient } from '../../src/library/client.ts';
import { freshHome, leads, type RunOptions } from '../support/run.ts';
import { scriptedService, type ScriptedService } from '../support/scripted-service.ts';

const token = 'tenant-credential-0001';
let service: ScriptedService;
let home: string;
/** Answers each request with an error that quotes a header. */
let quotes = false;

/** Two pages of one lead each, of a service that is versioned by a header: without it, there is one page of another kind. */
beforeEach(async () => {
  quotes = false;
  home = freshHome();
  service = await scriptedService(({ path, headers }, response) => {
    response.setHeader('content-type', 'application/json');
    if (quotes) {
      response.statusCode = 422;
      response.end(
        JSON.stringify({ error: 'bad', message: `no tenant ${String(headers['x-tenant-token'])}` }),
      );
      return;
    }
    const isSecond = path.includes('page=2');
    const next = isSecond ? null : '/api/leads?page=2';
    const data = [{ id: isSecond ? '2' : '1', category: headers['x-api-version'] ?? 'old' }];
    response.end(JSON.stringify({ data, next }));
  });
});
afterEach(() => service.close());

const run = (argv: readonly string[], more: RunOptions = {}) => leads(argv, { home, ...more });
const store = async (headers: string): Promise<void> => {
  const key = await run(['login', '--base-url', service.url, '--no-check', '--api-key-file', '-'], {
    stdin: 'key-of-a-test',
  });
  expect(key).toMatchObject({ exitCode: 0 });
  expect(await run(['config', 'set', 'api.headers', headers])).toMatchObject({ exitCode: 0, stderr: '' });
};
const sent = (name: string): unknown[] => service.asked.map(({ headers }) => headers[name]);

describe('the extra headers of a profile', () => {
  it('go with every request to the service, and ours give way to them', async () => {
    await store(JSON.stringify({ 'X-Api-Version': '2026-01', Accept: 'application/vnd.leads.v2+json' }));
    const listed = await run(['export', '-q']);
    expect(listed.stdout).toBe('{"id":"1","category":"2026-01"}\n{"id":"2","category":"2026-01"}\n');
    await run(['show', '1']);
    await run(['api', '/api/leads']);
    await run(['api', '/api/leads', '--paginate']);
    await run(['login', '--base-url', service.url, '--api-key-file', '-'], { stdin: 'key-of-a-test' });
    expect(service.asked.length).toBeGreaterThan(6);
    expect(new Set(sent('x-api-version'))).toEqual(new Set(['2026-01']));
    expect(new Set(sent('accept'))).toEqual(new Set(['application/vnd.leads.v2+json']));
    expect(new Set(sent('authorization'))).toEqual(new Set(['Bearer key-of-a-test']));
  });

  it('give way to those of one call', async () => {
    await store('{"x-api-version":"1","accept":"a/b"}');
    await run(['api', '/api/leads', '-H', 'X-API-Version: 3', '-H', 'Accept: c/d']);
    expect(sent('x-api-version')).toEqual(['3']);
    expect(sent('accept')).toEqual(['c/d']);
  });

  it('go to no other origin, and a login there says so', async () => {
    await store('{"x-api-version":"2"}');
    const other = await scriptedService((_, response) => response.end('[]'));
    const env = { LEADS_API_KEY: 'another-key', LEADS_BASE_URL: other.url };
    const refused = await run(['list'], { env });
    expect(refused).toMatchObject({ exitCode: 3 });
    expect(refused.stderr).toContain(`are for ${service.url} and are not sent to ${other.url}`);
    const login = await run(['login', '--no-check', '--api-key-file', '-'], { env, stdin: 'k-e-y' });
    expect(login).toMatchObject({ exitCode: 3 });
    await other.close();
    expect(other.asked).toEqual([]);
  });

  it('are bound to the origin in force when they are set, also without a stored base URL', async () => {
    const key = { LEADS_API_KEY: 'key-of-a-test' };
    const other = await scriptedService((_, response) => response.end('[]'));
    const set = ['config', 'set', 'api.headers', '{"x-api-key":"TOPSECRET123"}'];
    const nowhere = await run(set);
    expect(nowhere).toMatchObject({ exitCode: 3 });
    expect(nowhere.stderr).toContain('api.headers is stored for one service, and no base URL is set');
    expect(nowhere.stderr).toContain('set base-url first');
    expect(await run(set, { env: { LEADS_BASE_URL: service.url } })).toMatchObject({ exitCode: 0 });
    const elsewhere = await run(['export'], { env: { ...key, LEADS_BASE_URL: other.url } });
    await other.close();
    expect(elsewhere).toMatchObject({ exitCode: 3 });
    expect(elsewhere.stderr).toContain(`are for ${service.url} and are not sent to ${other.url}`);
    expect(other.asked).toEqual([]);
    const there = await run(['export', '-q'], { env: { ...key, LEADS_BASE_URL: service.url } });
    expect(there).toMatchObject({ exitCode: 0 });
    expect(new Set(sent('x-api-key'))).toEqual(new Set(['TOPSECRET123']));
  });

  it('stay with their origin when the profile gets another one, and go nowhere without one', async () => {
    await store('{"x-api-version":"2"}');
    await run(['config', 'set', 'base-url', 'http://localhost:9']);
    await run(['config', 'set', 'api-key', '-'], { stdin: 'another-key' });
    const moved = await run(['list']);
    expect(moved.stderr).toContain(`are for ${service.url} and are not sent to http://localhost:9`);
    const file = join(home, 'config', 'config.json');
    const headers = { 'x-api-version': '2' };
    await writeFile(
      file,
      JSON.stringify({ profiles: { default: { 'base-url': service.url, api: { headers } } } }),
    );
    const unknown = await run(['list'], { env: { LEADS_API_KEY: 'key-of-a-test' } });
    expect(unknown).toMatchObject({ exitCode: 3 });
    expect(unknown.stderr).toContain(`are for an unknown origin and are not sent to ${service.url}`);
    expect(unknown.stderr).toContain('leads config set api.headers');
    expect(service.asked).toEqual([]);
    expect(await run(['config', 'unset', 'api.headers'])).toMatchObject({ exitCode: 0 });
    await run(['config', 'set', 'api.headers', JSON.stringify(headers)]);
    await run(['config', 'unset', 'api.headers']);
    expect(await readFile(file, 'utf8')).not.toContain('Origin');
  });

  it('show no secret: in settings, in the log, in what a service quotes', async () => {
    await store(JSON.stringify({ 'x-tenant-token': token, 'x-api-version': '2' }));
    const shown = await run(['config', 'get', 'api.headers']);
    expect(shown.stdout).toBe('{"x-tenant-token":"…0001","x-api-version":"2"}\n');
    const listed = await run(['config', 'list', '--json']);
    quotes = true;
    const failed = await run(['list', '-v']);
    expect(failed.stderr).toContain('no tenant …0001');
    const called = await run(['api', `/api/leads?x=${token}`, '-v']);
    expect(called.stdout).toContain('no tenant …0001');
    const all = [shown, listed, failed, called].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(all).not.toContain(token);
  });

  it.each([
    ['{"authorization":"Bearer x"}', "'authorization' holds the API key"],
    ['{"Host":"x"}', "'host' is set by leads itself"],
    ['{"content-length":"1"}', "'content-length' belongs to the connection or says where a request ends"],
    ['{"x-a":"1","te":"trailers"}', "'te' belongs to the connection"],
    ['{"Cookie":"sid=secret"}', "'cookie' is refused"],
    ['{"range":"items=0-9"}', "'range' asks for a part of the answer"],
    ['{"secret y":"1"}', 'one of the names is no name of a header'],
    ['{"x":"secret\\r\\nb: c"}', "'x' is not a text of printable ASCII"],
    ['{"x":"é"}', "'x' is not a text of printable ASCII"],
    ['{"x":"1","X":"2"}', "'x' is given twice"],
    ['[]', 'that is not a JSON object of headers'],
    ['x: secret', 'that is not a JSON object of headers'],
  ])('cannot be %s, which is said without its value', async (headers, says) => {
    const { exitCode, stderr } = await run(['config', 'set', 'api.headers', headers]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`api.headers: ${says}`);
    expect(stderr).not.toContain('secret');
  });

  it.each([
    ['2', true],
    ['2026-01-31', true],
    ['application/vnd.leads.v2+json; charset=utf-8', true],
    ['acme-4711', false],
    ['20260131', false],
    ['2026-01-31 token', false],
    ['application/json; token=4711', false],
    ['application/json, 4711-secret', false],
  ])('whose value %j is a version, a date or a media type show it: %s', (value, isShown) => {
    const [secret] = secretsIn({ 'x-any': value });
    expect(withHiddenSecrets({ 'x-any': value })['x-any'] === value).toBe(isShown);
    expect(secret?.reveal()).toBe(isShown ? undefined : value);
    expect(withHiddenSecrets({ 'x-session-token': value })['x-session-token']).not.toBe(value);
  });

  it('are an option of the library, too', async () => {
    const of = (headers: Record<string, string>) =>
      createClient({ baseUrl: service.url, apiKey: 'k', dialect: { headers } });
    const categories: unknown[] = [];
    for await (const lead of of({ 'X-Api-Version': '7' }).leads()) categories.push(lead.value);
    expect(categories).toEqual([
      { id: '1', category: '7' },
      { id: '2', category: '7' },
    ]);
    expect(() => of({ Authorization: 'Bearer other' })).toThrow(
      'dialect.headers is not what a dialect holds there',
    );
  });
});
