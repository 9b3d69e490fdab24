import { describe, expect, it } from 'vitest';
import { tokenHeader, type WireInbox, type WireProblem } from '../../src/inspect/wire.ts';
import { arrivalOf } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { scriptedReceiver } from '../support/scripted-service.ts';
import { openWire, statuses } from '../support/wire.ts';
import { inspect, type Inspected, post, send, targetAt } from './support.ts';

/** The bytes of a request, sent as they are; the answer's first line and headers come back. */
async function raw(port: number, request: string): Promise<string> {
  const wire = await openWire(port);
  wire.send(request);
  const text = await wire.until(/\r\n\r\n/);
  wire.socket.destroy();
  return text;
}

const apiWith = (
  { server, token }: Inspected,
  headers: readonly string[],
  line = 'GET /api/inbox HTTP/1.1',
) => raw(server.port, [line, `${tokenHeader}: ${token}`, ...headers, '', ''].join('\r\n'));

const problemOf = (text: string): WireProblem['code'] | undefined => (JSON.parse(text) as WireProblem).code;

describe('the page over the inbox, attacked', () => {
  it('answers for its own Host alone, with its port', async () => {
    const page = await inspect();
    const { port } = page.server;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
      expect(statuses(await apiWith(page, [`Host: ${host}`])), host).toEqual([200]);
    }
    const foreign = ['evil.test', `evil.test:${port}`, `127.0.0.1`, 'localhost', `127.0.0.1:${port + 1}`];
    const odd = [`127.0.0.1:${port}.evil.test`, `[::1]:${port}`, `x.localhost:${port}`, `127.0.0.1:0${port}`];
    for (const host of [...foreign, ...odd, '', `127.0.0.2:${port}`, `user@127.0.0.1:${port}`]) {
      expect(statuses(await apiWith(page, [`Host: ${host}`])), host).toEqual([403]);
      // Not even the page's own files, which hold nothing.
      expect(statuses(await raw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)), host).toEqual([403]);
    }
    expect(statuses(await raw(port, 'GET / HTTP/1.0\r\n\r\n'))).toEqual([403]);
    const two = [`Host: 127.0.0.1:${port}`, 'Host: evil.test'];
    expect(statuses(await apiWith(page, two))).toEqual([400]);
    const absolute = `GET http://evil.test/api/inbox HTTP/1.1`;
    expect(statuses(await apiWith(page, [`Host: 127.0.0.1:${port}`], absolute))).toEqual([403]);
  });

  it('refuses foreign and null origins, and requests that another site makes', async () => {
    const page = await inspect();
    const { origin, server } = page;
    const other = `http://127.0.0.1:${server.port + 1}`;
    for (const value of [
      'http://evil.test',
      'null',
      other,
      `https://127.0.0.1:${server.port}`,
      `${origin}/`,
    ]) {
      expect((await page.get('/api/inbox', { headers: { origin: value } })).status, value).toBe(403);
      expect((await post(`${origin}/api/session`, { key: page.key }, value)).status, value).toBe(403);
    }
    // The other name of the same server is another origin.
    const localhost = `http://localhost:${server.port}`;
    expect((await page.get('/api/inbox', { headers: { origin: localhost } })).status).toBe(403);
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await page.get('/api/inbox', { headers: { 'sec-fetch-site': site } })).status, site).toBe(403);
    }
    expect((await page.get('/api/inbox', { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
    expect((await page.get('/api/inbox', { headers: { origin } })).status).toBe(200);
  });

  it('needs the token, for every path of the API', async () => {
    const page = await inspect();
    const paths = ['inbox', 'deliveries', 'deliveries/1'];
    for (const path of [...paths, 'counts', 'replays', 'nothing']) {
      const without = await send(`${page.origin}/api/${path}`);
      expect([without.status, problemOf(without.text)], path).toEqual([401, 'no-token']);
      const wrong = { [tokenHeader]: page.key };
      expect((await send(`${page.origin}/api/${path}`, { headers: wrong })).status, path).toBe(401);
    }
    // Nothing else carries it.
    const { token, origin } = page;
    expect((await send(`${origin}/api/inbox?token=${token}`)).status).toBe(401);
    expect((await send(`${origin}/api/inbox`, { headers: { cookie: `token=${token}` } })).status).toBe(401);
    expect((await send(`${origin}/api/inbox`, { headers: { authorization: token } })).status).toBe(401);
  });

  it('gives a token for its key alone, and none for that of another run', async () => {
    const clock = new FakeClock();
    const [one, other] = [await inspect({ clock }), await inspect({ clock })];
    for (const key of [
      one.usedKey,
      other.key,
      other.token,
      '',
      `${one.key} `,
      one.key.slice(1),
      1,
      null,
      [one.key],
    ]) {
      const answer = await post(`${one.origin}/api/session`, { key }, one.origin);
      expect([answer.status, problemOf(answer.text)]).toEqual([401, 'wrong-key']);
    }
    for (const reloadKey of [other.token, one.key, one.usedKey, '']) {
      const answer = await post(`${one.origin}/api/session`, { reloadKey }, one.origin);
      expect([answer.status, problemOf(answer.text)]).toEqual([401, 'no-token']);
    }
    const old = await send(`${one.origin}/api/inbox`, { headers: { [tokenHeader]: other.token } });
    expect(JSON.parse(old.text)).toMatchObject({ code: 'no-token', hint: /address/ });
  });

  it('sends no cookie, no permission for others, and its security headers with every answer', async () => {
    const page = await inspect();
    const { port } = page.server;
    const host = `Host: 127.0.0.1:${port}`;
    const answers = [
      await raw(port, `GET / HTTP/1.1\r\n${host}\r\n\r\n`),
      await raw(port, `GET /nothing HTTP/1.1\r\n${host}\r\n\r\n`),
      await raw(port, `GET /api/inbox HTTP/1.1\r\n${host}\r\n\r\n`),
      await raw(port, 'GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n'),
      await raw(port, 'nonsense\r\n\r\n'),
      await raw(port, `CONNECT evil.test:80 HTTP/1.1\r\n${host}\r\n\r\n`),
      await raw(port, `OPTIONS /api/replays HTTP/1.1\r\n${host}\r\nOrigin: http://evil.test\r\n\r\n`),
      await apiWith(page, [host]),
    ];
    for (const text of answers) {
      expect(text).toContain(
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n",
      );
      expect(text).toContain('x-content-type-options: nosniff\r\n');
      expect(text).toContain('referrer-policy: no-referrer\r\n');
      expect(text).toContain('cache-control: no-store\r\n');
      expect(text).not.toMatch(/set-cookie|access-control/i);
    }
  });

  it('reads no file but its own four', async () => {
    const { origin, server } = await inspect();
    for (const path of ['/', '/app.js', '/app.css', '/icon.svg', '/?x=1']) {
      expect((await send(`${origin}${path}`)).status, path).toBe(200);
    }
    const traversals = [
      '/../package.json',
      '/..%2fpackage.json',
      '/%2e%2e/main.cjs',
      '/..\\main.cjs',
      '//app.js',
    ];
    for (const path of [
      ...traversals,
      '/app.js/',
      '/app.js%00',
      '/index.html',
      '/__proto__',
      '/constructor',
    ]) {
      const line = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`;
      expect(statuses(await raw(server.port, line)), path).toEqual([404]);
    }
  });

  it('lets no value of a request into its headers', async () => {
    const page = await inspect();
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    for (const path of ['/api/deliveries/1%0d%0aSet-Cookie:a=b', '/%0d%0aSet-Cookie:a=b']) {
      const answer = await page.get(path);
      expect(answer.status).toBe(404);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    const header = await apiWith(page, [`Host: 127.0.0.1:${page.server.port}`, 'X: a\rSet-Cookie: b=c']);
    expect(header).not.toMatch(/set-cookie/i);
  });

  it('refuses malformed queries, and answers the next request', async () => {
    const page = await inspect();
    const wrong = ['limit=0', 'limit=201', 'limit=-1', 'before=x', 'verdict=unknown', 'since=1e3'];
    for (const query of wrong) {
      const answer = await page.get(`/api/deliveries?${query}`);
      expect([answer.status, problemOf(answer.text)], query).toEqual([400, 'bad-request']);
    }
    expect((await page.get('/api/counts?since=x')).status).toBe(400);
    expect((await page.get(`/api/deliveries?text=${'x+'.repeat(5_000)}`)).status).toBe(200);
    expect((await page.get('/api/deliveries/99999999999999999999')).status).toBe(404);
    expect((await page.get('/api/inbox')).status).toBe(200);
  });
});

describe('replay, attacked', () => {
  const open = async () => {
    const app = await scriptedReceiver(() => 200);
    const page = await inspect({ targets: [targetAt(app.url)] });
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    const target = `forward ${app.url}`;
    return { app, page, asked: { seq: 1, target } };
  };

  it('takes a POST of JSON from its own page alone', async () => {
    const { app, page, asked } = await open();
    const url = `${page.origin}/api/replays`;
    const own = { [tokenHeader]: page.token, origin: page.origin, 'content-type': 'application/json' };
    const text = JSON.stringify(asked);
    const attempt = async (headers: Readonly<Record<string, string>>, method = 'POST', body = text) =>
      (await send(url, { method, headers }, body)).status;
    const { [tokenHeader]: _, ...withoutToken } = own;
    const { origin: __, ...withoutOrigin } = own;
    expect(await attempt(withoutToken)).toBe(401);
    expect(await attempt(withoutOrigin)).toBe(403);
    expect(await attempt({ ...own, origin: 'null' })).toBe(403);
    expect(await attempt({ ...own, 'sec-fetch-site': 'cross-site' })).toBe(403);
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data',
      'text/json',
    ]) {
      expect(await attempt({ ...own, 'content-type': type }), type).toBe(415);
    }
    expect(await attempt({ [tokenHeader]: page.token }, 'GET', '')).toBe(405);
    expect((await page.get(`/api/replays?seq=1&target=${encodeURIComponent(asked.target)}`)).status).toBe(
      405,
    );
    for (const method of ['PUT', 'DELETE', 'PATCH']) expect(await attempt(own, method)).toBe(405);
    for (const body of [
      '',
      '[]',
      'null',
      '{"seq":1}',
      '{"seq":"1","target":"a"}',
      '{"seq":1.5,"target":"a"}',
      '{',
    ]) {
      expect(await attempt(own, 'POST', body), body).toBe(400);
    }
    expect(app.received).toEqual([]);
    expect(await attempt(own)).toBe(200);
    expect(app.received).toHaveLength(1);
    await app.close();
  });

  it('goes to named targets only', async () => {
    const { app, page, asked } = await open();
    const elsewhere = await scriptedReceiver(() => 200);
    for (const target of [
      `forward ${elsewhere.url}`,
      elsewhere.url,
      `${asked.target}?x=1`,
      '',
      '__proto__',
    ]) {
      const answer = await page.post('/api/replays', { ...asked, target });
      expect([answer.status, problemOf(answer.text)], target).toEqual([403, 'forbidden']);
    }
    expect([...app.received, ...elsewhere.received]).toEqual([]);
    const described = JSON.parse((await page.get('/api/inbox')).text) as WireInbox;
    expect(described.targets).toEqual([{ name: asked.target, scheme: null }]);
    await app.close();
    await elsewhere.close();
  });

  it('refuses a body that is too large, from anybody', async () => {
    const { app, page } = await open();
    const body = 'x'.repeat(100 * 1024);
    const line = (headers: readonly string[]) =>
      ['POST /api/replays HTTP/1.1', `Host: 127.0.0.1:${page.server.port}`, ...headers, '', ''].join('\r\n');
    const length = `Content-Length: ${body.length}`;
    const own = [`Origin: ${page.origin}`, 'Content-Type: application/json', `${tokenHeader}: ${page.token}`];
    expect(statuses(await raw(page.server.port, line([length, ...own])))).toEqual([413]);
    expect(statuses(await raw(page.server.port, line(['Content-Length: 100000'])))).toEqual([413]);
    expect(problemOf((await page.get(`/api/inbox?${'x'.repeat(20_000)}`)).text)).toBe('bad-request');
    expect(app.received).toEqual([]);
    await app.close();
  });
});
