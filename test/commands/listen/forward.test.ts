import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { until } from '../../support/until.ts';
import { answering, appInEachTest, startApp } from './app.ts';
import { freshHome, leads } from '../../support/run.ts';
import { listenInEachTest, token } from './support.ts';

const start = listenInEachTest();
const app = appInEachTest();

describe('--forward-to', () => {
  it('passes on the exact bytes and headers, except those of the connection', async () => {
    const behind = await app(answering(204));
    const listener = await start(['--forward-to', `${behind.url}/hook?a=1`]);
    const body = '{ "id" : "a",\n "name":"\\u00e9 ü \u2028" }';
    const headers = {
      'X-Webhook-Token': token,
      'X-Many': ['1', '2'],
      Connection: 'close, X-Hop',
      'X-Hop': 'gone',
      'User-Agent': 'Service/1.0',
    };
    expect((await listener.post(body, headers)).body).toEqual({ status: 'accepted', id: 'a' });
    await until(() => behind.received.length === 1);
    const [got] = behind.received;
    expect(got?.url).toBe('/hook?a=1');
    expect(got?.body.toString('utf8')).toBe(body);
    const names = got?.rawHeaders.filter((_, i) => i % 2 === 0) ?? [];
    expect(names.filter((name) => name === 'X-Many')).toHaveLength(2);
    expect(names).toEqual(expect.arrayContaining(['x-webhook-token', 'User-Agent']));
    expect(names.join()).not.toMatch(/x-hop/i);
    expect(got?.rawHeaders.join('\n')).toContain('Service/1.0');
  });

  it('shows that the app is down, and forwards the lead again when it is up', async () => {
    const down = await startApp(answering(200));
    const { url } = down;
    await down.close();
    const listener = await start(['--forward-to', url]);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => listener.stdout.text().includes('forward:'));
    expect(listener.stdout.text()).toMatch(/forward: connection refused.*, again at \d\d:\d\d:\d\dZ$/m);
    const up = await app(answering(200), Number(new URL(url).port));
    await listener.passUntil(() => up.received.length === 1);
  });

  it('shows when the app speaks HTTP where HTTPS was expected, and the reverse', async () => {
    const behind = await app(answering(200));
    const secure = await start(['--token', token]);
    for (const [url, answer] of [
      [behind.url.replace('http:', 'https:'), 'the app speaks plain HTTP: use http://'],
      [secure.url.replace('https:', 'http:'), 'connection closed without an answer: is it HTTPS?'],
    ] as const) {
      const listener = await start(['--forward-to', url, '--format', 'events']);
      expect((await listener.post({ id: 'a' })).status).toBe(200);
      await expect.poll(() => listener.forwards()).toMatchObject([{ answer }]);
    }
  });

  it('follows no redirect, and names where it leads, without what could drive the terminal', async () => {
    const other = await app(answering(200));
    const location = `${other.url}/webhook/\u009b2J`;
    const behind = await app((_, response) => response.writeHead(308, { location }).end());
    const listener = await start(['--forward-to', behind.url]);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => listener.stdout.text().includes('forward:'));
    expect(other.received).toHaveLength(0);
    expect(listener.stdout.text()).toContain(`308, Location: ${other.url}/webhook/`);
    expect(listener.stdout.text()).not.toContain('\u009b');
  });

  it('shows no part of a credential that holds another header, and none in a redirect', async () => {
    const behind = await app((_, response, count) => {
      if (count > 1) response.writeHead(302, { location: `/login?token=${token}&next=%2F` }).end();
      else answering(500, JSON.stringify({ message: `token ${token}-9f8e7d is unknown` }))(_, response);
    });
    const listener = await start([
      '--forward-to',
      behind.url,
      '--format',
      'events',
      '--token',
      `${token}-9f8e7d`,
    ]);
    const headers = { 'x-account': token, 'x-webhook-token': `${token}-9f8e7d` };
    expect((await listener.post({ id: 'a' }, headers)).status).toBe(200);
    await expect
      .poll(() => listener.forwards())
      .toMatchObject([{ answer: '500: token [redacted] is unknown' }]);
    await listener.passUntil(() => listener.forwards().length > 1);
    expect(listener.forwards()[1]).toMatchObject({
      answer: '302, Location: /login?token=[redacted]&next=%2F',
    });
  });

  it('shows what the app says of its failure, without the credential that it quotes', async () => {
    const said = JSON.stringify(
      { error: { message: `no table leads; token ${token}`, code: 'E7' } },
      null,
      2,
    );
    const behind = await app(answering(500, said));
    const listener = await start(['--forward-to', behind.url]);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => listener.stdout.text().includes('forward:'));
    expect(listener.stdout.text()).toContain('forward: 500: no table leads; token [redacted] (E7)');
    expect(listener.stdout.text()).not.toContain(token);
  });
});

const headersOf = (received: { rawHeaders: readonly string[] } | undefined, name: string): string[] =>
  (received?.rawHeaders ?? []).filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === name);

describe('what the app is told about a forwarded lead', () => {
  it('is its id, attempt and scheme, and none of it comes from the sender', async () => {
    const behind = await app((_, response, count) => answering(count < 2 ? 500 : 200)(_, response));
    const listener = await start(['--forward-to', behind.url]);
    const headers = { 'x-webhook-token': token, 'Leads-Lead-Id': 'forged', 'leads-verified': 'forged' };
    await listener.post({ id: 'a %é\u0000\u{1f600}' }, headers);
    await listener.passUntil(() => behind.received.length === 2);
    const [first, second] = behind.received;
    const [id = '', ...more] = headersOf(first, 'leads-lead-id');
    expect(decodeURIComponent(id)).toBe('a %é\u0000\u{1f600}');
    expect(more).toEqual([]);
    expect([first, second].map((one) => headersOf(one, 'leads-attempt'))).toEqual([['1'], ['2']]);
    expect(headersOf(first, 'leads-verified')).toEqual(['token']);
  });

  it('is that nothing was verified, where nothing was when it came, also once deliveries are', async () => {
    const clock = new FakeClock();
    const behind = await app((_, response, count) => answering(count < 2 ? 422 : 200)(_, response));
    const home = freshHome();
    const flags = ['--inbox', join(home, 'inbox.db'), '--forward-to', behind.url];
    const first = await start(['--no-verify', ...flags], { clock, home });
    expect((await first.post({ id: 'forged' }, { 'leads-verified': 'stripe' })).status).toBe(200);
    await until(() => behind.received.length === 1);
    await first.stop();
    clock.advance(60_000);
    await start(flags, { clock, home });
    await until(() => behind.received.length === 2);
    expect(behind.received.map((one) => headersOf(one, 'leads-verified'))).toEqual([['none'], ['none']]);
  });

  it('is the original path and query where it keeps the path', async () => {
    const behind = await app(answering(200));
    const listener = await start([
      '--target',
      JSON.stringify({ forward: `${behind.url}/base/`, keepPath: true }),
    ]);
    const paths = ['/hook?a=1&b=%20', '/', '/x//y'];
    for (const path of paths) expect((await listener.post({ id: path }, undefined, path)).status).toBe(200);
    await until(() => behind.received.length === 3);
    const urls = behind.received.map(({ url }) => url);
    expect(urls.sort()).toEqual(['/base/', '/base/hook?a=1&b=%20', '/base/x//y']);
  });

  it('is the user and password of the URL, which show up nowhere else', async () => {
    const behind = await app((request, response) =>
      answering(500, `you are ${request.rawHeaders.join(' ')}`)(request, response),
    );
    const url = behind.url.replace('//', '//ann:pass%20wort-4711@');
    const authorization = `Basic ${Buffer.from('ann:pass wort-4711').toString('base64')}`;
    const listener = await start(['--forward-to', url, '--verbose']);
    await listener.post({ id: 'a' }, { 'x-webhook-token': token, Authorization: 'Bearer of-the-sender' });
    await until(() => listener.stdout.text().includes('you are'));
    expect(headersOf(behind.received[0], 'authorization')).toEqual([authorization]);
    const { stderr } = await leads(['listen', '--token', 't', '--forward-to', url.replace('http:', 'ftp:')]);
    expect(stderr).toContain("'ftp://…@");
    const seen = listener.stdout.text() + listener.stderr.text() + stderr;
    expect(seen).not.toMatch(/wort-4711|pass%20wort/);
    expect(seen).not.toContain(authorization.slice(6));
  });
});

describe('a forward to another host', () => {
  const refusal = async (...flags: string[]) => leads(['listen', '--port', '0', '--token', 't', ...flags]);

  it('over plain HTTP is a usage error unless it is meant', async () => {
    const run = await refusal('--forward-to', 'http://app.example/hook');
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain(`--target '{"forward":"URL","insecure":true}'`);
    await start(['--target', '{"forward":"http://app.example/hook","insecure":true}']);
    await start(['--forward-to', 'https://app.example/hook']);
  });

  it('goes through the proxy of the environment, one to this machine does not', async () => {
    const proxy = await app(answering(200));
    const env = { http_proxy: proxy.url.replace('//', '//me:secret@') };
    const remote = ['--target', '{"forward":"http://app.example:81/hook?a=1","insecure":true}'];
    const listener = await start(remote, { env });
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => proxy.received.length === 1);
    expect(proxy.received[0]?.url).toBe('http://app.example:81/hook?a=1');
    expect(headersOf(proxy.received[0], 'host')).toEqual(['app.example:81']);
    expect(headersOf(proxy.received[0], 'proxy-authorization')).toEqual([`Basic ${btoa('me:secret')}`]);
    const behind = await app(answering(200));
    const near = await start(['--forward-to', behind.url], { env });
    expect((await near.post({ id: 'a' })).status).toBe(200);
    await until(() => behind.received.length === 1);
    expect([proxy.received.length, behind.received.length]).toEqual([1, 1]);
  });

  it('names the proxy that is down', async () => {
    const proxy = await startApp(answering(200));
    await proxy.close();
    const remote = ['--forward-to', 'https://app.example/hook', '--format', 'events'];
    const listener = await start(remote, { env: { https_proxy: proxy.url } });
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    const { host } = new URL(proxy.url);
    await expect
      .poll(() => listener.forwards())
      .toMatchObject([{ answer: `connection refused (through the proxy ${host})` }]);
  });
});
