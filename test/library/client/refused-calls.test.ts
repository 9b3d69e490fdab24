import { createServer as createHttpServer } from 'node:http';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  ConfigError,
  createClient,
  DataError,
  KeyRejectedError,
  LeadsError,
  ServiceError,
  UsageError,
} from '../../../src/library/client.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { freePort } from '../../support/free-port.ts';
import { openServer } from '../../support/open-server.ts';

const apiKey = 'key-of-this-test-0123456789';

const open: Scripted[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function serving(...given: Parameters<typeof scripted>): Promise<Scripted> {
  const service = await scripted(...given);
  open.push(service);
  return service;
}

/** What the first step of an iteration throws. */
async function failure(options: ClientOptions): Promise<LeadsError> {
  const leads = createClient({ retries: 0, ...options }).leads();
  const error: unknown = await leads[Symbol.asyncIterator]()
    .next()
    .then(
      () => new Error('nothing was thrown'),
      (reason: unknown) => reason,
    );
  if (error instanceof LeadsError) return error;
  throw error;
}

const shown = (error: unknown): string => inspect(error, { depth: 20, showHidden: true, getters: true });

describe('an iteration that fails', () => {
  it.each([401, 403])('says that the key was refused with %s, and never shows the key', async (status) => {
    const service = await serving((request, response) => {
      response.writeHead(status, { 'x-request-id': `id ${request.headers.authorization ?? ''}` });
      response.end(JSON.stringify({ error: 'no', message: `no such key: ${apiKey}` }));
    });
    const error = await failure({ baseUrl: service.url, apiKey });
    expect(error).toBeInstanceOf(KeyRejectedError);
    expect(error).toMatchObject({ code: 'key_refused', status, hint: 'see apiKey' });
    expect(shown(error)).not.toContain(apiKey);
  });

  it('says that the service cannot be reached, with the cause', async () => {
    const port = await freePort();
    const error = await failure({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'service_unavailable', cause: { code: 'ECONNREFUSED' } });
    expect(error.hint).toContain('baseUrl');
    expect(shown(error)).not.toContain(apiKey);
  });

  it('names options without quotes, and nothing of what its text is made of', async () => {
    const service = await serving((_, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"not here"}');
    });
    const error = await failure({ baseUrl: service.url, apiKey });
    expect(error.hint).toBe("the list operation may have another path: dialect.path: '/…'");
    expect(Object.keys(error)).not.toContain('problem');
  });

  it.each([
    ['<html>', 'text/html', 'not with JSON', 'baseUrl'],
    ['{"data":{}}', 'application/json', 'leads', 'dialect.'],
    ['{"a":[{"id":"1"}],"b":[{"id":"2"}]}', 'application/json', 'leads', 'dialect.items'],
  ])('says what is wrong with the answer %s', async (body, type, message, hint) => {
    const service = await serving((_, response) => sendJson(response, body, { 'content-type': type }));
    const error = await failure({ baseUrl: service.url, apiKey });
    expect(error).toBeInstanceOf(DataError);
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
    expect(error.hint).not.toMatch(/leads config|leads login| --/);
  });
});

describe('createClient()', () => {
  const baseUrl = 'https://leads.example.com';

  it.each<[string, Partial<ClientOptions> | Record<string, unknown>, string]>([
    ['plain http beyond loopback', { baseUrl: 'http://leads.example.com' }, 'plain HTTP'],
    ['no URL', { baseUrl: 'leads' }, 'not a URL'],
    ['a password in no URL', { baseUrl: `hxxps://user:${apiKey}@leads.example.com` }, 'not a URL'],
    ['no key', { apiKey: undefined }, 'apiKey is missing'],
    ['a misspelt dialect', { dialect: { pagination: 'pages' } }, 'dialect.pagination'],
    ['an unknown part of a dialect', { dialect: { params: { size: 'n' } } }, 'dialect.params.size'],
    ['no time at all', { timeoutMs: 0 }, 'timeoutMs'],
    ['half a retry', { retries: 0.5 }, 'retries'],
  ])('refuses %s at once', (_, options, message) => {
    const create = () => createClient({ baseUrl, apiKey, ...options });
    expect(create).toThrow(message);
    try {
      create();
    } catch (error) {
      expect(error instanceof ConfigError || error instanceof UsageError).toBe(true);
      expect(shown(error)).not.toContain(apiKey);
    }
  });

  it.each<[Record<string, unknown>, string]>([
    [{ since: 'soon' }, "since is 'soon'"],
    [{ until: new Date(Number.NaN) }, 'until'],
    [{ since: '2026-02-01', until: '2026-01-01' }, 'since is after until'],
    [{ category: null }, "'null' is no status or category"],
    [{ status: 5 }, "'5' is no status or category"],
    [{ where: 'facebook' }, "'facebook' is no condition"],
    [{ where: ['score>high'] }, 'needs a number or a time'],
  ])('refuses the filter %j when leads() is called', (filter, message) => {
    const client = createClient({ baseUrl, apiKey });
    expect(() => client.leads(filter)).toThrow(message);
  });

  it('shows no key when it is inspected', () => {
    const client = createClient({ baseUrl, apiKey });
    expect(shown([client, client.leads()])).not.toContain(apiKey);
    expect(JSON.stringify(client)).not.toContain(apiKey);
  });

  it('asks a function for the key once for each iteration', async () => {
    const sent: (string | undefined)[] = [];
    const service = await serving((request, response) => {
      sent.push(request.headers.authorization);
      sendJson(response, { data: [{ id: '1' }], has_more: false });
    });
    let calls = 0;
    const client = createClient({
      baseUrl: service.url,
      apiKey: () => Promise.resolve(`key-${(calls += 1)}`),
    });
    for (let i = 0; i < 2; i += 1) for await (const lead of client.leads()) expect(lead.id).toBe('1');
    expect(sent).toEqual(['Bearer key-1', 'Bearer key-2']);
    const empty = await failure({ baseUrl: service.url, apiKey: () => '' });
    expect(empty.message).toBe('apiKey is empty');
    const cause = new Error('the vault is closed');
    expect(await failure({ baseUrl: service.url, apiKey: () => Promise.reject(cause) })).toMatchObject({
      cause,
    });
  });

  it('uses a proxy only when it is given where to look for one', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createHttpServer().on('connect', ({ url }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    const { url, close } = await openServer(proxy);
    const env = { HTTPS_PROXY: url };
    // An address that is nobody's (RFC 5737).
    const options = { baseUrl: 'https://192.0.2.1', apiKey, timeoutMs: 300 };
    expect((await failure({ ...options, env })).message).toContain('the proxy does not connect');
    expect((await failure(options)).message).not.toContain('proxy');
    expect(asked).toEqual(['192.0.2.1:443']);
    await close();
  });
});
