import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer, request } from 'node:https';
import { connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createPoster } from '../../../src/http/client/poster.ts';
import { tunnelAgent } from '../../../src/http/client/proxy.ts';
import { trustIn } from '../../../src/http/client/trust.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { openPort } from '../../support/open-port.ts';

const tls = await ensureAuthority(mkdtempSync(join(tmpdir(), 'leads-proxy-')), { now: Date.now });

/** A server for https, and a proxy that tunnels to it, whatever host it is asked for. */
async function start(status: number) {
  const asked: string[] = [];
  const server = createSecureServer({ cert: tls.certPem, key: tls.keyPem }, (_, response) => {
    response.end('through');
  });
  const port = await openPort(server);
  const proxy = createServer();
  proxy.on('connect', ({ url, headers }, socket) => {
    asked.push(`${url ?? ''} ${headers['proxy-authorization'] ?? ''}`);
    socket.write(`HTTP/1.1 ${status} Whatever\r\n\r\n`);
    if (status !== 200) socket.end();
    else socket.pipe(connect(port, '127.0.0.1')).pipe(socket);
  });
  const proxyUrl = new URL(`http://me:se%20cret@127.0.0.1:${await openPort(proxy)}`);
  const agent = tunnelAgent(proxyUrl, { ca: tls.caPem, keepAlive: true });
  onTestFinished(() => agent.destroy());
  return { asked, agent, proxy, proxyUrl };
}

/** Posts through the proxy, and gives the status and body of the answer, or the code and the detail of the failure. */
function posterThrough(proxy: URL, timeoutMs = 10_000) {
  const poster = createPoster({ connections: 1, timeoutMs, proxy, trust: trustIn(tls.caPem) });
  onTestFinished(() => poster.close());
  const post = async (url: string): Promise<string> => {
    const request = { url, headers: [['X-A', 'b']] as const, body: Buffer.from('body') };
    const result = await poster.post(request);
    return result.ok ? `${result.status} ${result.body.toString()}` : `${result.code}: ${result.detail}`;
  };
  return { poster, post };
}

function get(agent: ReturnType<typeof tunnelAgent>): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: hostname(), port: 8443, agent }, (response) => {
      response.on('data', (chunk: Buffer) => resolve(String(chunk)));
    });
    sent.on('error', reject).end();
  });
}

test('a request over https goes through one tunnel, and the certificate is that of the host itself', async () => {
  const { asked, agent } = await start(200);
  expect([await get(agent), await get(agent)]).toEqual(['through', 'through']);
  expect(asked).toEqual([`${hostname()}:8443 Basic ${btoa('me:se cret')}`]);
});

test('a proxy that is spoken to over https is asked for its own certificate', async () => {
  const names: string[] = [];
  const proxy = createSecureServer({
    cert: tls.certPem,
    key: tls.keyPem,
    SNICallback: (name, done) => {
      names.push(name);
      done(null);
    },
  });
  const agent = tunnelAgent(new URL(`https://localhost:${await openPort(proxy)}`), {});
  onTestFinished(() => agent.destroy());
  // Our own authority is none that node trusts.
  await expect(get(agent)).rejects.toMatchObject({
    code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO/) as string,
  });
  expect(names).toEqual(['localhost']);
});

test('requests that are posted over https share one tunnel', async () => {
  const { asked, proxyUrl } = await start(200);
  const { post } = posterThrough(proxyUrl);
  const url = `https://${hostname()}:8443/x`;
  expect([await post(url), await post(url)]).toEqual(['200 through', '200 through']);
  expect(asked).toEqual([`${hostname()}:8443 Basic ${btoa('me:se cret')}`]);
});

test('a request that is posted without TLS goes to the proxy with its whole URL', async () => {
  const { proxy, proxyUrl } = await start(200);
  const seen: unknown[] = [];
  proxy.on('request', (message, response) => {
    seen.push(message.url, message.rawHeaders);
    response.end('passed on');
  });
  const { post } = posterThrough(proxyUrl);
  expect(await post('http://example.com/x?y=z')).toBe('200 passed on');
  const authorization = ['proxy-authorization', `Basic ${btoa('me:se cret')}`];
  const own = ['host', 'example.com', 'connection', 'keep-alive'];
  const headers = [...own, 'X-A', 'b', ...authorization, 'content-length', '4'];
  expect(seen).toEqual(['http://example.com/x?y=z', headers]);
});

test('what is posted fails with what the proxy answered, or at once when it is given up', async () => {
  const refused = await start(403);
  const url = `https://${hostname()}:8443/x`;
  expect(await posterThrough(refused.proxyUrl).post(url)).toBe('Error: the proxy answered 403 to CONNECT');
  const silent = await start(200);
  silent.proxy.removeAllListeners('connect').on('connect', () => undefined);
  const { poster, post } = posterThrough(silent.proxyUrl);
  const result = post(url);
  setImmediate(() => poster.close());
  expect(await result).toBe('aborted: aborted');
});

test('a connection that is not ready in time ends with its request, however late its tunnel was opened', async () => {
  const { proxy, proxyUrl } = await start(200);
  const timeoutMs = 1_000;
  const ended: Promise<unknown>[] = [];
  proxy.removeAllListeners('connect').on('connect', (_, socket) => {
    ended.push(once(socket.resume(), 'end'));
    setTimeout(() => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 0.8 * timeoutMs);
  });
  const { post } = posterThrough(proxyUrl, timeoutMs);
  expect(await post(`https://${hostname()}:8443/x`)).toMatch(/^timeout: /);
  expect(ended).toHaveLength(1);
  const late = sleep(timeoutMs / 2, 'still open');
  const end = ended[0]?.catch(() => undefined).then(() => 'ended');
  expect(await Promise.race([end, late])).toBe('ended');
});
