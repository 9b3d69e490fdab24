import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { freshHome } from '../support/run.ts';
import { startReceiver } from './obedient-receiver.ts';
import { check, named } from './support.ts';

const token = 'Token-of-the-Tests';

/** A receiver that is another host for all that is known, behind a proxy that leads to it; and what it was sent. */
async function elsewhere() {
  const home = freshHome();
  const { certPem: cert, keyPem: key, caPath } = await ensureAuthority(`${home}/data`, { now: Date.now });
  const bodies: string[] = [];
  const keep = (delivery: { body: Uint8Array }): boolean => {
    bodies.push(Buffer.from(delivery.body).toString());
    return false;
  };
  const receiver = await startReceiver('token', token, () => ({ withBody: keep }), { cert, key });
  const proxy = createServer().listen(0, '127.0.0.1');
  proxy.on('connect', (_, socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const behind = connect(Number(new URL(receiver.url).port), 'localhost').on('error', () => undefined);
    socket.pipe(behind).pipe(socket);
  });
  await new Promise((resolve) => proxy.once('listening', resolve));
  onTestFinished(() => void proxy.close());
  const env = {
    PATH: process.env['PATH'] ?? '',
    HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  };
  const run = (flags: readonly string[]) =>
    check([`https://${hostname()}:8443/hook`, '--token', token, '--ca', caPath, ...flags], { env, home });
  return { run, bodies, stored: receiver.stored };
}

test('nothing that may be stored is sent to another host', async () => {
  const { run, bodies, stored } = await elsewhere();
  const { stderr, exitCode, summary, probes, failed } = await run([]);
  expect([failed, exitCode, stored.size, summary.accepted]).toEqual([[], 0, 0, []]);
  expect(named({ probes } as never, 'pass')).toEqual(
    expect.arrayContaining(['credential.missing', 'credential.wrong', 'body.no-lead', 'protocol.method']),
  );
  expect(Math.max(...bodies.map((body) => body.length))).toBeLessThan(2000);
  expect(probes.find(({ name }) => name === 'delivery.valid')?.detail).toContain('--allow-writes');
  expect(stderr).toContain('a wrong token or secret here goes unseen');
});

test('--allow-writes runs the rest', async () => {
  const { run, stored } = await elsewhere();
  const { failed, summary } = await run(['--allow-writes']);
  expect(failed).toEqual([]);
  expect([...stored.keys()].sort()).toEqual([...summary.accepted].sort());
  expect(stored.size).toBeGreaterThan(10);
});
