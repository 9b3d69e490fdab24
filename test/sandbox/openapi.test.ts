import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { request, type Dispatcher } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { apiFaults, parseFaults } from '../../src/sandbox/faults.ts';
import { paginations } from '../../src/sandbox/sandbox-options.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { Secret } from '../../src/secret.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { FakeClock } from '../support/clock.ts';
import { ScriptedReceiver } from '../support/scripted-receiver.ts';

let sandbox: Sandbox;
afterEach(() => sandbox.close());

async function start(options: SandboxOptions = {}): Promise<Contract> {
  sandbox = await startSandbox({ leads: 30, ...options }, { clock: new FakeClock() });
  const document = await (await request(`${sandbox.url}/openapi.json`)).body.json();
  return new Contract(document as Document);
}

interface Operation {
  operationId: string;
  security?: unknown[];
  responses: Record<string, unknown>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
}

/** Holds answers against the document: the status must be a documented one, and the body must fit its schema. */
class Contract {
  readonly seen = new Set<string>();
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly document: Document;

  constructor(document: Document) {
    this.document = document;
    this.#ajv.addSchema(document, 'sandbox');
  }

  async call(
    method: Dispatcher.HttpMethod,
    target: string,
    options: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<unknown> {
    const headers = { authorization: `Bearer ${sandbox.apiKey}`, ...options.headers };
    const answer = await request(`${sandbox.url}${target}`, { method, ...options, headers });
    const body: unknown = await answer.body.json();
    const path = target.split('?')[0] ?? '';
    const verb = method.toLowerCase();
    const operation = this.document.paths[path]?.[verb];
    const status = String(answer.statusCode);
    expect(Object.keys(operation?.responses ?? {}), `${method} ${target}`).toContain(status);
    const pointer = ['paths', path, verb, 'responses', status, 'content', 'application/json', 'schema'];
    const fragment = pointer
      .map((step) => encodeURIComponent(step.replace(/~/g, '~0').replace(/\//g, '~1')))
      .join('/');
    const validate = this.#ajv.getSchema(`sandbox#/${fragment}`);
    expect(validate, fragment).toBeDefined();
    expect([validate?.(body), validate?.errors, `${method} ${target}`]).toEqual([
      true,
      null,
      `${method} ${target}`,
    ]);
    this.seen.add(`${operation?.operationId ?? ''} ${status}`);
    return body;
  }
}

test('an independent validator accepts the document, whatever the options', async () => {
  const token = schemeNamed('token');
  const webhook = {
    url: 'http://127.0.0.1:1/',
    signer: { scheme: token, key: token.key(new Secret('t')) },
    paused: true,
  };
  const variants: SandboxOptions[] = [
    {},
    { envelope: 'none', pagination: 'link' },
    { envelope: 'result.leads', pagination: 'none', params: { since: null, until: null, category: 'kind' } },
    { rateLimit: { requests: 5, windowMs: 1000 }, webhooks: [webhook] },
  ];
  for (const [i, options] of variants.entries()) {
    const { document } = await start(options);
    expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
    if (i < variants.length - 1) await sandbox.close();
  }
});

test('every documented answer of the list operation is given, and fits', async () => {
  const contract = await start({ rateLimit: { requests: 8, windowMs: 1000 } });
  await contract.call('GET', '/api/leads?limit=7&status=new&category=solar');
  await contract.call('GET', '/api/leads?limit=0');
  await contract.call('GET', '/api/leads', { headers: { authorization: 'Bearer no' } });
  for (const fault of ['status500', 'status503', 'duplicate']) {
    sandbox.state.apiInjector.faults = parseFaults(fault, apiFaults);
    await contract.call('GET', '/api/leads?limit=7');
  }
  sandbox.state.apiInjector.faults = {};
  for (let i = 0; i < 6; i += 1) await contract.call('GET', '/api/leads?limit=7');
  expect([...contract.seen].sort()).toEqual(
    ['200', '400', '401', '429', '500', '503'].map((status) => `listLeads ${status}`),
  );
});

test('pages of every style and envelope fit', async () => {
  const variants: SandboxOptions[] = [
    ...paginations.map((pagination) => ({ pagination })),
    { pagination: 'link', envelope: 'none' },
    { envelope: 'result.leads', next: 'url', nextField: 'result.next', statusField: 'deliveryStatus' },
  ];
  for (const [i, options] of variants.entries()) {
    const contract = await start(options);
    await contract.call('GET', '/api/leads?limit=7');
    if (i < variants.length - 1) await sandbox.close();
  }
});

test('every control endpoint answers as documented', async () => {
  const ok = await new ScriptedReceiver((_, count) => (count % 3 === 0 ? 500 : 200)).open();
  const token = schemeNamed('token');
  const contract = await start({
    webhooks: [
      {
        url: ok.url,
        signer: { scheme: token, key: token.key(new Secret('t')) },
        retryMs: [],
        faults: { drop: { chance: 0.2 } },
      },
    ],
  });
  await expect.poll(() => sandbox.state.deliveries.pending).toBe(0);
  await contract.call('GET', '/api/leads?limit=2');
  const lead =
    '{"id":"from-outside","category":"solar","contact":{"name":"A","email":"b","phone":"c"},"metadata":{"source":"x","n":12345678901234567890},"createdAt":"2026-01-01T00:00:00Z"}';
  await contract.call('POST', '/sandbox/leads', { body: lead });
  await contract.call('POST', '/sandbox/leads', { body: lead });
  await contract.call('POST', '/sandbox/leads', { body: '[]' });
  expect(await contract.call('POST', '/sandbox/leads?count=3')).toMatchObject({ ids: { length: 3 } });
  for (const path of ['leads', 'requests', 'deliveries', 'faults']) {
    await contract.call('GET', `/sandbox/${path}`);
    await contract.call('GET', `/sandbox/${path}`, { headers: { origin: 'https://evil.example' } });
    if (path !== 'faults') await contract.call('GET', `/sandbox/${path}?limit=0`);
  }
  await contract.call('PUT', '/sandbox/faults', {
    body: '{"api":{"slow":"1%:200ms"},"deliveries":{"reorder":"5%"}}',
  });
  await contract.call('PUT', '/sandbox/faults', { body: '{"api":{"slow":"200%"}}' });
  for (const path of ['deliveries/pause', 'deliveries/resume', 'reset'])
    await contract.call('POST', `/sandbox/${path}`);
  await contract.call('DELETE', '/sandbox/deliveries');
  const operations = Object.values(contract.document.paths).flatMap((path) => Object.values(path));
  const answered = new Set([...contract.seen].map((entry) => entry.split(' ')[0]));
  expect(operations.map((operation) => operation.operationId).filter((id) => !answered.has(id))).toEqual([]);
  await ok.close();
});

test('every operation says whether it needs the API key: only the list operation does', async () => {
  const { document } = await start();
  const operations = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((path) =>
    Object.values(path),
  );
  expect(operations.filter(({ security }) => security === undefined)).toEqual([]);
  const withKey = operations.filter(({ security }) => security?.length !== 0);
  expect(withKey.map(({ operationId, security }) => [operationId, security])).toEqual([
    ['listLeads', [{ apiKey: [] }]],
  ]);
});
