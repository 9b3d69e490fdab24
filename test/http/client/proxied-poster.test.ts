import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer, request } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tunnelAgent } from '../../../src/http/client/proxied-poster.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';

const tls = await ensureAuthority(mkdtempSync(join(tmpdir(), 'leads-proxy-')), { now: Date.now });

/** A server for https, and a proxy that tunnels to it, whatever host it is asked for. */
async function start(status: number) {
  const asked: string[] = [];
  const server = createSecureServer({ cert: tls.certPem, key: tls.keyPem }, (_, response) => {
    response.end('through');
  }).listen(0, '127.0.0.1');
  const proxy = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(proxy, 'listening')]);
  const { port } = server.address() as AddressInfo;
  proxy.on('connect', ({ url, headers }, socket) => {
    asked.push(`${url ?? ''} ${headers['proxy-authorization'] ?? ''}`);
    socket.write(`HTTP/1.1 ${status} Whatever\r\n\r\n`);
    if (status !== 200) socket.end();
    else socket.pipe(connect(port, '127.0.0.1')).pipe(socket);
  });
  onTestFinished(() => {
    server.close().closeAllConnections();
    proxy.close();
  });
  const proxyPort = (proxy.address() as AddressInfo).port;
  const agent = tunnelAgent(new URL(`http://me:se%20cret@127.0.0.1:${proxyPort}`), {
    ca: tls.caPem,
    keepAlive: true,
  });
  onTestFinished(() => agent.destroy());
  return { asked, agent };
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

test('a proxy that refuses the tunnel is an error that says so', async () => {
  const { agent } = await start(403);
  await expect(get(agent)).rejects.toThrow('the proxy answered 403 to CONNECT');
});
