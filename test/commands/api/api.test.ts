import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { freshHome, leads, type RunOptions } from '../../support/run.ts';
import { scriptedService, type ScriptedService } from '../../support/scripted-service.ts';

const open: ScriptedService[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function answering(...args: Parameters<typeof scriptedService>): Promise<ScriptedService> {
  const service = await scriptedService(...args);
  open.push(service);
  return service;
}

const json = (response: ServerResponse, status: number, body: string, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
};

describe('leads api', () => {
  it('shows a compressed answer as it comes, and reads no page that unfolds without end', async () => {
    const bodyOf = (size: number): Buffer => gzipSync(Buffer.alloc(size, 'x'), { level: 1 });
    let body = bodyOf(3 * 1024 * 1024);
    const { env } = await answering((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
    });
    const shown = await leads(['api', '/x'], { env });
    expect([shown.exitCode, shown.stdout.length]).toEqual([0, 3 * 1024 * 1024]);
    body = bodyOf(257 * 1024 * 1024);
    const page = await leads(['api', '/x', '--paginate'], { env });
    expect(page).toMatchObject({ exitCode: 6, stdout: '' });
    expect(page.stderr).toContain('the answer is longer than 256 MiB');
  });

  it('tries again behind an error page that is long and comes in pieces', async () => {
    const { env, asked } = await answering((_, response) => {
      if (asked.length > 2) {
        json(response, 200, '{"ok":true}');
        return;
      }
      response.writeHead(503, { 'retry-after': '0' });
      const send = (pieces: number): void => {
        if (pieces === 0) response.end();
        else response.write('x'.repeat(10 * 1024), () => setImmediate(send, pieces - 1));
      };
      send(10);
    });
    const run = await leads(['api', '/x'], { env });
    expect(run).toMatchObject({ exitCode: 0, stdout: '{"ok":true}' });
    expect(asked).toHaveLength(3);
  });

  it('gives the body byte for byte, whatever it is', async () => {
    const body = Buffer.from([0, 0xff, 0x1b, 0x5b, 0x0d, 0x0a, 0xe2, 0x82, 0x80]);
    const { env } = await answering((_, response) => void response.writeHead(200).end(body));
    const home = freshHome();
    const run = await leads(['api', '/blob'], { env, home });
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toBe(body.toString('utf8'));
    expect(run.stderr).toBe('');
  });

  it('asks with the key, below the path of the base URL, and at a URL of the same origin', async () => {
    const { env, asked, url } = await answering((_, response) => json(response, 200, '{}'));
    const below = { ...env, LEADS_BASE_URL: `${url}/v1/?tenant=a` };
    await leads(['api', '/x?y=1#z'], { env: below });
    await leads(['api', 'x'], { env: below });
    await leads(['api', `${url}/whole?q=1`], { env: below });
    expect(asked.map(({ path }) => path)).toEqual(['/v1/x?y=1&tenant=a', '/v1/x?tenant=a', '/whole?q=1']);
    expect(asked.every(({ headers }) => headers.authorization === 'Bearer a-key-of-a-test')).toBe(true);
  });

  it.each([
    'https://other.example/x',
    '//other.example/x',
    '\\\\other.example/x',
    'http:/\\127.0.0.1:1/',
    'mailto:a@b',
  ])('refuses %s, which is another origin', async (path) => {
    const { env, asked } = await answering((_, response) => json(response, 200, '{}'));
    const run = await leads(['api', path], { env });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(/^error: .* is for http:\/\/127\.0\.0\.1:\d+ only\nhint: /);
    expect(asked).toHaveLength(0);
  });

  it('puts fields into the query of a GET and into the JSON body of a POST, and never changes the method', async () => {
    const { env, asked } = await answering((_, response) => json(response, 200, '{}'));
    const fields = ['-f', 'status=new', '-f', 'n:=12345678901234567890', '-f', 'url=http:=x', '-f', 'a b=ü&'];
    await leads(['api', '/x?y=1', ...fields], { env });
    await leads(['api', '/x', '--method', 'post', ...fields], { env });
    await leads(['api', '/x', '-X', 'DELETE'], { env });
    expect(asked.map(({ method, path, body }) => [method, path, String(body)])).toEqual([
      ['GET', '/x?y=1&status=new&n=12345678901234567890&url=http%3A%3Dx&a+b=%C3%BC%26', ''],
      ['POST', '/x', '{"status":"new","n":12345678901234567890,"url":"http:=x","a b":"ü&"}'],
      ['DELETE', '/x', ''],
    ]);
    expect(asked.map(({ headers }) => headers['content-type'])).toEqual([
      undefined,
      'application/json',
      undefined,
    ]);
  });

  it('sends a file, or stdin, with the headers that were typed', async () => {
    const { env, asked } = await answering((_, response) => json(response, 200, '{}'));
    const home = freshHome();
    const file = join(home, 'body.csv');
    writeFileSync(file, 'a,b\n');
    const header = ['-H', 'Content-Type: text/csv', '--header', 'X-Once: 1'];
    await leads(['api', '/x', '--method', 'PUT', '--input', file, ...header], { env, home });
    await leads(['api', '/x', '--method', 'PUT', '--input', '-'], { env, stdin: '{"a":1}' });
    expect(asked.map(({ body }) => String(body))).toEqual(['a,b\n', '{"a":1}']);
    expect(asked[0]?.headers).toMatchObject({ 'content-type': 'text/csv', 'x-once': '1' });
    const missing = await leads(['api', '/x', '--method', 'PUT', '--input', `${file}.no`], { env });
    expect(missing).toMatchObject({ exitCode: 6 });
    expect(missing.stderr).toMatch(/^error: cannot read the body from .*: there is no such file\n$/);
  });

  it.each([
    [['--input', '-'], /--method is POST, PUT, PATCH, DELETE or OPTIONS/],
    [['--method', 'POST', '--input', '-', '-f', 'a=b'], /--input and --field do not go together/],
    [['--method', 'POST', '-f', 'a=b', '-f', 'a=c'], /--field: 'a' is given twice/],
    [['--method', 'POST', '--paginate'], /--paginate needs --method GET/],
    [['--method', 'BREW'], /--method: 'BREW' is not one of GET, HEAD/],
    [['-f', 'a:=x'], /--field: 'a:=x' is not a field/],
    [['-H', 'Authorization: Bearer x'], /--header: authorization is set by leads itself/],
  ])('refuses %j', async (flags, message) => {
    const { env, asked } = await answering((_, response) => json(response, 200, '{}'));
    const run = await leads(['api', '/x', ...flags], { env });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
    expect(asked).toHaveLength(0);
  });

  it('prints the body of an error, with the exit code that its status has', async () => {
    const body = '{"error":"not_found","message":"no such lead"}';
    for (const [status, exitCode] of [
      [400, 6],
      [404, 6],
      [422, 6],
      [401, 4],
      [403, 4],
    ] as const) {
      const { env, asked } = await answering((_, response) => json(response, status, body));
      const run = await leads(['api', '/x'], { env });
      expect(run).toMatchObject({ exitCode, stdout: body });
      expect(run.stderr).toContain(`no such lead (not_found)`);
      expect(asked).toHaveLength(1);
    }
  });

  it('prints an error body of any length whole', async () => {
    const body = `{"error":"x","message":"${'y'.repeat(300_000)}"}`;
    const { env } = await answering((_, response) => json(response, 400, body));
    expect((await leads(['api', '/x'], { env })).stdout).toBe(body);
  });

  it('takes the key out of the body of an error, wherever its chunks end', async () => {
    const quoting = async (
      status: number,
      secret: string,
      chunk: number,
      on: RunOptions = {},
    ): Promise<string> => {
      const { url } = await answering(({ headers }, response) => {
        const body = Buffer.from(`\xff${headers.authorization ?? ''} ${encodeURIComponent(secret)}…`, 'utf8');
        response.writeHead(status, { 'content-length': body.length });
        const write = (at: number): void => {
          if (at >= body.length) response.end();
          else response.write(body.subarray(at, at + chunk), () => setImmediate(write, at + chunk));
        };
        write(0);
      });
      const env = { LEADS_API_KEY: secret, LEADS_BASE_URL: url };
      return (await leads(['api', '/x', '--method', 'POST'], { env, ...on })).stdout;
    };
    const secret = 'key+7c1e9b40/d2f84a63==';
    for (const chunk of [1, 20, 1000]) {
      for (const status of [302, 400, 401, 500]) {
        expect(await quoting(status, secret, chunk)).toBe('\xffBearer …63== …63==…');
      }
      expect(await quoting(200, secret, chunk, { terminal: 80 })).toContain('Bearer …63== …63==…');
    }
    expect(await quoting(200, secret, 1000)).toContain(secret);
  });

  it('gives no hint about the list operation', async () => {
    const { env } = await answering((_, response) => json(response, 404, '{"error":"gone"}'));
    expect((await leads(['api', '/x'], { env })).stderr).toBe('error: the service answered 404: gone\n');
  });

  it('tries GET and HEAD again, and nothing else', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const isRead = method === 'GET' || method === 'HEAD';
      const { env, asked } = await answering((_, response, count) => {
        if (count === 1) json(response, 503, '{"error":"busy"}', { 'retry-after': '2' });
        else if (count === 2) response.destroy();
        else json(response, 200, method === 'HEAD' ? '' : '{"ok":1}');
      });
      const run = await leads(['api', '/x', '--method', method], { env });
      expect([method, asked.length, run.exitCode]).toEqual([method, isRead ? 3 : 1, isRead ? 0 : 5]);
      if (!isRead) expect(run.stdout).toBe('{"error":"busy"}');
    }
  });

  it('asks again for a short body that broke off, so that nothing of it is printed twice', async () => {
    const body = '{"a":"0123456789"}';
    const { env } = await answering((_, response, count) => {
      response.writeHead(200, { 'content-length': body.length });
      if (count > 1) response.end(body);
      else response.write(body.slice(0, 5), () => response.destroy());
    });
    expect(await leads(['api', '/x'], { env })).toMatchObject({ exitCode: 0, stdout: body });
  });

  it('streams a body without a length; one that breaks off is exit 5', async () => {
    const { env } = await answering((_, response) => {
      response.writeHead(200);
      response.write('beginning', () => setImmediate(() => response.destroy()));
    });
    const run = await leads(['api', '/x'], { env });
    expect(run).toMatchObject({ exitCode: 5, stdout: 'beginning' });
    expect(run.stderr).toMatch(/^error: cannot reach http:\S+: the connection was closed/);
  });

  it('follows no redirect: the key goes nowhere else', async () => {
    const other = await answering((_, response) => json(response, 200, '{}'));
    for (const location of [`${other.url}/there`, '/here']) {
      const { env, asked } = await answering((_, response) =>
        json(response, 302, '{"moved":1}', { location }),
      );
      const run = await leads(['api', '/x'], { env });
      expect(run).toMatchObject({ exitCode: 6, stdout: '{"moved":1}' });
      expect(run.stderr).toContain(
        `error: the service redirects to ${location} (302), which is not followed\n`,
      );
      expect(asked).toHaveLength(1);
    }
    expect(other.asked).toHaveLength(0);
  });

  it('shows the status line and the headers, the key taken out of them', async () => {
    const { env } = await answering(({ headers }, response) =>
      json(response, 200, '{}', { 'X-Echo': headers.authorization ?? '', 'Set-Cookie': ['a=1', 'b=2'] }),
    );
    const run = await leads(['api', '/x', '-i'], { env });
    const [head, body] = run.stdout.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: application\/json\r\nX-Echo: Bearer …test\r\n/);
    expect(head).toContain('Set-Cookie: a=1\r\nSet-Cookie: b=2');
    expect(body).toBe('{}');
  });

  it('shows no key on a terminal that the service quotes, and keeps every byte in a pipe', async () => {
    const { env } = await answering(({ headers }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const { authorization = '' } = headers;
      response.write(`{"got":"${authorization.slice(0, 9)}`);
      setImmediate(() => response.end(`${authorization.slice(9)}"}`));
    });
    const key = env['LEADS_API_KEY'] ?? '';
    const printed = async (words: readonly string[], more: RunOptions = {}) =>
      (await leads(['api', '/x', ...words], { env, ...more })).stdout;
    expect(await printed([])).toBe(`{"got":"Bearer ${key}"}`);
    for (const words of [[], ['--paginate']]) {
      const text = await printed(words, { terminal: 80 });
      expect(text).toContain('Bearer …');
      expect(text).not.toContain(key);
    }
  });

  it('lets nothing that came drive a terminal', async () => {
    const evil = '\u001b]52;c;x\u0007\u202e\u009b31m';
    const answers = ['application/json', 'text/plain'];
    const { env } = await answering((_, response, count) => {
      response.writeHead(count === 1 ? 200 : 404, {
        'content-type': answers[count - 1] ?? '',
        'x-odd': 'a\u009bb',
      });
      response.end(count === 1 ? `{"a":"${evil}"}` : `line 1\r\nline ${evil}2`);
    });
    const first = await leads(['api', '/x', '-i'], { env, terminal: 80 });
    const second = await leads(['api', '/x'], { env, terminal: 80 });
    for (const { stdout } of [first, second]) {
      expect(stdout.replace(/\r\u001b\[K/g, '')).not.toMatch(
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
      );
    }
    expect(first.stdout).toContain(String.raw`"a": "\u001b]52;c;x\u0007\u202e\u009b31m"`);
    expect(second.stdout).toMatch(/line 1\nline .*2\n$/);
  });

  it.each(['application/json', 'text/plain'])(
    'knows a line break of %s on a terminal where it comes in two pieces',
    async (type) => {
      const { env } = await answering((_, response, count) => {
        // The key is looked for across pieces, which ends the first of them at an even or an odd place.
        response.writeHead(200, { 'content-type': type }).end(`[1${'\r\n'.repeat(500)}${' '.repeat(count)}]`);
      });
      for (let count = 1; count <= 2; count += 1) {
        const { stdout } = await leads(['api', '/x'], { env, terminal: 80 });
        expect(stdout).toMatch(/^\[\s*1\s*\]\n$/);
        expect(stdout).not.toContain('\r');
      }
    },
  );
});
