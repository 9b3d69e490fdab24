import { createServer, type ServerResponse } from 'node:http';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import {
  ConfigError,
  DataError,
  type SchemeName,
  startSandbox,
  type TestSandboxOptions,
  UsageError,
} from '../../../src/library/testing.ts';
import { verify } from '../../../src/library/webhook.ts';
import { FakeClock } from '../../support/clock.ts';
import { openServer } from '../../support/open-server.ts';

type Check = (request: Request) => Promise<number>;

/** An application's endpoint; `answer` gives the status. */
async function endpoint(answer: Check): Promise<string> {
  const server = createServer((request, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const url = `http://${headers['host'] ?? ''}${request.url ?? ''}`;
      const whole = new Request(url, { method: 'POST', headers, body: Buffer.concat(chunks) });
      void answer(whole).then((status) => response.writeHead(status).end());
    });
  });
  const opened = await openServer(server);
  onTestFinished(opened.close);
  return `${opened.url}/hook`;
}

const secrets = Buffer.from('a secret of twenty-four.').toString('base64');

it.each<SchemeName>(['token', 'standard-webhooks', 'stripe', 'github'])(
  'delivers leads that are signed as %s, each until it is acknowledged',
  async (scheme) => {
    const tries = new Map<string, number>();
    const url = await endpoint(async (request) => {
      const checked = await verify(request, { scheme, secrets });
      if (!checked.ok) return 401;
      const [{ id } = { id: '' }] = checked.leads;
      tries.set(id, (tries.get(id) ?? 0) + 1);
      return tries.get(id) === 1 ? 500 : 200;
    });
    const sandbox = await startSandbox({ leads: 4, webhook: { url, scheme, secrets, retryMs: [1, 1] } });
    const added = sandbox.addLead({ id: 'mine', score: 1 });
    expect(Buffer.from(added.bytes).toString()).toBe('{"id":"mine","score":1}');
    await sandbox.settled();
    expect([...tries.values()]).toEqual([2, 2, 2, 2, 2]);
    expect(tries.has('mine')).toBe(true);
    const outcomes = sandbox
      .deliveries()
      .map(({ outcome, status, forged }) => `${outcome} ${status ?? ''} ${forged}`);
    expect(outcomes.sort()).toEqual([
      ...Array<string>(5).fill('acknowledged 200 false'),
      ...Array<string>(5).fill('refused 500 false'),
    ]);
    await sandbox.close();
  },
);

it('waits for retries by the clock that it is given', async () => {
  const clock = new FakeClock();
  const url = await endpoint(() => Promise.resolve(500));
  const sandbox = await startSandbox({ leads: 1, clock, webhook: { url, retryMs: [60_000] } });
  await expect.poll(() => clock.sleeps).toEqual([60_000]);
  clock.advance(60_000);
  await sandbox.settled();
  expect(sandbox.deliveries()).toHaveLength(2);
  await sandbox.close();
});

it('tells an application that takes forgeries, and still delivers the lead', async () => {
  const url = await endpoint(() => Promise.resolve(200));
  const webhook = { url, scheme: 'github', secrets, concurrency: 1 } as const;
  const sandbox = await startSandbox({ leads: 3, webhook, deliveryFaults: { badSignature: '100%' } });
  onTestFinished(() => sandbox.close());
  await expect(sandbox.settled()).rejects.toThrow(
    '3 forged deliveries (badSignature) came back with 200: the application does not verify what it gets',
  );
  const attempts = sandbox.deliveries().map(({ leadId, attempt, forged }) => [leadId, attempt, forged]);
  const expected = sandbox.leads().flatMap(({ id }) => [
    [id, 1, true],
    [id, 2, false],
  ]);
  expect(attempts.sort()).toEqual(expected.sort());
});

it('leaves nothing open when it is closed, and says to who waits that it will not be settled', async () => {
  const url = await endpoint(() => new Promise(() => undefined));
  const sandbox = await startSandbox({ leads: 3, webhook: { url } });
  const settled = expect(sandbox.settled()).rejects.toThrow('closed before');
  await sandbox.close();
  await settled;
  await expect(sandbox.settled()).rejects.toThrow('closed before');
  await expect(fetch(sandbox.url)).rejects.toThrow();
  const again = await startSandbox({ leads: 0 });
  await again.settled();
  await again.close();
  await again.close();
});

it('takes no lead without an id, and no id twice', async () => {
  // Bytes of another realm, such as that of a test runner.
  const foreign = runInNewContext(
    `Uint8Array.from(${JSON.stringify([...Buffer.from('{"id":"3"}')])})`,
  ) as object;
  const sandbox = await startSandbox({ leads: ['{"id":"1"}', Buffer.from('{"id":"2"}'), foreign] });
  expect(sandbox.leads().map(({ id }) => id)).toEqual(['1', '2', '3']);
  expect(() => sandbox.addLead({ name: 'x' })).toThrow(DataError);
  expect(() => sandbox.addLead('{"id":"1"}')).toThrow('already a lead');
  await sandbox.close();
  await expect(startSandbox({ leads: [{ id: '1' }, { id: '1' }] })).rejects.toThrow('lead 2');
});

it('names the option where its port is in use', async () => {
  const sandbox = await startSandbox({ leads: 0 });
  onTestFinished(() => sandbox.close());
  const again = startSandbox({ port: Number(new URL(sandbox.url).port) });
  await expect(again).rejects.toMatchObject({
    name: 'ConfigError',
    hint: expect.not.stringContaining('--') as string,
  });
});

it.each<[string, TestSandboxOptions, new () => never]>([
  ['plain http beyond loopback', { webhook: { url: 'http://example.com/' } }, UsageError as never],
  ['no URL', { webhook: { url: 'hook' } }, UsageError as never],
  ['no secret', { webhook: { url: 'http://localhost/', scheme: 'github' } }, ConfigError as never],
  [
    'an unknown scheme',
    { webhook: { url: 'http://localhost/', scheme: 'x' as 'svix', secrets } },
    ConfigError as never,
  ],
  ['an unknown fault', { faults: { status500: 'often' } }, UsageError as never],
  ['faults of deliveries that nobody gets', { deliveryFaults: { drop: '5%' } }, UsageError as never],
  ['half a lead', { leads: 0.5 }, UsageError as never],
  ['no time', { newest: new Date(Number.NaN) }, UsageError as never],
  ['a page of no lead', { maxLimit: 0 }, UsageError as never],
  ['an unknown pagination', { pagination: 'pages' as 'page' }, UsageError as never],
  ['no rate', { rateLimit: -1 as never }, UsageError as never],
  ['no port', { port: 65_536 }, UsageError as never],
  [
    'half an attempt',
    { webhook: { url: 'http://localhost/', retryMs: ['1s' as never] } },
    UsageError as never,
  ],
])('refuses %s at once', async (_, options, kind) => {
  await expect(startSandbox(options)).rejects.toThrow(kind);
});
