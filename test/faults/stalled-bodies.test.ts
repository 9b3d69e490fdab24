import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startListen } from '../support/listening.ts';
import { openWire, post, statuses } from '../support/wire.ts';

/** Promise 8: bodies that are sent in part and then no further cost no more memory than all bodies together may take. */
const count = 300;
const megabyte = 1024 * 1024;
const mostMegabytes = 225;

/** The largest resident memory that a process ever had, in bytes. */
const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

const json = 'Content-Type: application/json';

test.runIf(process.platform === 'linux').each([
  ['plain HTTP', ['--http']],
  ['TLS', []],
])(
  `${count} stalled bodies of 1 MiB over %s are bounded, and small deliveries go on`,
  async (name, flags) => {
    const listening = await startListen([
      ...flags,
      '--scheme',
      'github',
      '--secret',
      's',
      '--inbox',
      ':memory:',
    ]);
    onTestFinished(() => void listening.child.kill('SIGKILL'));
    const head = post('', [json, `X-Hub-Signature-256: sha256=${'0'.repeat(64)}`]).replace(
      'Content-Length: 0',
      `Content-Length: ${megabyte}`,
    );
    const part = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.alloc(megabyte - 1, 'x')]);
    const wires = await Promise.all(
      Array.from({ length: count }, async () => {
        const wire = await openWire(listening.port, listening.ca);
        // A client that is turned away may see its connection reset while it still sends.
        await new Promise((resolve) => wire.socket.once('close', resolve).write(part, resolve));
        return wire;
      }),
    );
    const genuine = await openWire(listening.port, listening.ca);
    const lead = '{"id":"genuine"}';
    const signature = createHmac('sha256', 's').update(lead).digest('hex');
    genuine.send(post(lead, [json, `X-Hub-Signature-256: sha256=${signature}`]));
    expect(statuses(await genuine.until(/\r\n\r\n\{/))).toEqual([200]);
    const peak = peakOf(listening.pid) / 1e6;
    const held = wires.filter((wire) => wire.text() === '' && !wire.socket.destroyed).length;
    const answered = wires.filter((wire) => statuses(wire.text()).includes(503)).length;
    console.log(
      `promise 8: ${count} stalled bodies of 1 MiB over ${name}: ${held} held, ${answered} answered 503, ` +
        `peak memory ${peak.toFixed(0)} of ${mostMegabytes} MB`,
    );
    expect(peak).toBeLessThan(mostMegabytes);
    expect(held).toBeGreaterThan(0);
    for (const wire of wires) wire.socket.destroy();
  },
);

test('a wrong or absent token is answered before its body is received', async () => {
  const listening = await startListen(['--http', '--token', 'right', '--inbox', ':memory:']);
  onTestFinished(() => void listening.child.kill('SIGKILL'));
  for (const headers of [
    [],
    ['x-webhook-token: wrong'],
    ['x-webhook-token: right', 'x-webhook-token: right'],
  ]) {
    const wire = await openWire(listening.port);
    wire.send(post('', [json, ...headers]).replace('Content-Length: 0', `Content-Length: ${megabyte}`));
    expect(statuses(await wire.closed(5_000))).toEqual([401]);
  }
});
