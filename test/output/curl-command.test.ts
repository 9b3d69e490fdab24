import { execa } from 'execa';
import { afterEach, expect, test } from 'vitest';
import { type CurlRequest, curlCommand, withVariables } from '../../src/output/curl-command.ts';
import { Secret } from '../../src/secret.ts';
import { scriptedReceiver } from '../support/scripted-service.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const secret = new Secret('it\'s $secret`!\\ "héhé"');
const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** What a receiver gets when the command is run by bash, with the secret in its variable. */
async function pasted(request: Partial<CurlRequest>) {
  const receiver = await scriptedReceiver(() => 200);
  closers.push(() => receiver.close());
  const secrets = [{ secret, variable: 'LEADS_WEBHOOK_TOKEN' as const }];
  const url = receiver.url + (request.url ?? '');
  const command = curlCommand({
    method: 'POST',
    headers: [],
    body: Buffer.from('{}'),
    secrets,
    ...request,
    url,
  });
  const { stdout } = await execa('bash', {
    input: command,
    env: { LEADS_WEBHOOK_TOKEN: secret.reveal() },
  });
  expect(stdout).toMatch(/^HTTP\/1.1 200/m);
  return { command, received: receiver.received[0] };
}

const bodies: Record<string, Buffer> = {
  plain: Buffer.from('{"id":"lead-1"}'),
  quotes: Buffer.from(`{"id":"a'b\\"c$HOME\`id\`!!"}`),
  'text in other scripts': Buffer.from('{"name":"Олена 王小明 👩‍💻"}'),
  'several lines': Buffer.from('{\r\n\t"id": "x"\n}\n'),
  'bytes outside UTF-8': Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x80, 0x7d]),
  'what curl reads as a file name': Buffer.from('@/etc/hostname'),
  nothing: Buffer.alloc(0),
  'more than one argument can hold': Buffer.alloc(200_000, 'x'),
};

test.each(Object.entries(bodies))('a pasted command sends the exact bytes of %s', async (_, body) => {
  const { command, received } = await pasted({ body });
  expect(received?.body.equals(body)).toBe(true);
  expect(received?.method).toBe('POST');
  expect(command).not.toContain('\n');
});

test('headers keep their values, also where they hold quotes, bytes or nothing, and none is added by curl', async () => {
  const headers = [
    ['X-Quotes', `'"\`$HOME!`],
    ['X-Bytes', latin1('é') + '\xff'],
    ['X-Empty', ''],
    ['X-Twice', 'one'],
    ['X-Twice', 'two'],
  ] as const;
  const { received } = await pasted({ headers });
  expect(received?.rawHeaders.filter(([name]) => name.startsWith('X-'))).toEqual(headers);
  expect(received?.headers['content-type']).toBeUndefined();
});

test.each(['PUT', 'GET', 'HEAD', 'DELETE'])('the method %s is used', async (method) => {
  const { received } = await pasted({ method, body: Buffer.alloc(0) });
  expect(received?.method).toBe(method);
});

test('brackets and braces in a URL are no pattern', async () => {
  const { received } = await pasted({ url: '?a={b,c}&d=[1-3]' });
  expect(received?.path).toBe('/hook?a={b,c}&d=[1-3]');
});

test('a variable stands for the secret wherever a header holds it, and the receiver gets the secret', async () => {
  const value = latin1(secret.reveal());
  const headers = [
    ['X-Token', value],
    ['Authorization', `Bearer ${value}; a='b'`],
  ] as const;
  const { command, received } = await pasted({ headers });
  expect(received?.headers['x-token']).toBe(value);
  expect(received?.headers.authorization).toBe(`Bearer ${value}; a='b'`);
  expect(command).toContain('"X-Token: $LEADS_WEBHOOK_TOKEN"');
  expect(command).not.toContain(secret.reveal());
  expect(withVariables(`Bearer ${value}`, [{ secret, variable: 'LEADS_WEBHOOK_TOKEN' }])).toBe(
    'Bearer $LEADS_WEBHOOK_TOKEN',
  );
});

test('the trust of the run is said to curl', () => {
  const request = { method: 'POST', url: 'https://localhost/', headers: [], body: Buffer.from('{}') };
  expect(curlCommand({ ...request, caFile: "/tmp/it's/ca.pem" })).toContain(
    `--cacert '/tmp/it'\\''s/ca.pem'`,
  );
  expect(curlCommand({ ...request, caFile: '/tmp/ca.pem', insecure: true })).toMatch(/^curl -i -k https/);
});

test('a secret is not looked for in the names of headers', () => {
  const secrets = [{ secret: new Secret('x'), variable: 'LEADS_WEBHOOK_TOKEN' as const }];
  const headers = [['x-webhook-token', 'x']] as const;
  const line = curlCommand({
    method: 'GET',
    url: 'http://a.example/',
    headers,
    body: Buffer.alloc(0),
    secrets,
  });
  expect(line).toBe('curl -i http://a.example/ -H "x-webhook-token: $LEADS_WEBHOOK_TOKEN"');
});
