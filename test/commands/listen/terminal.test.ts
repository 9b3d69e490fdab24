import { connect } from 'node:tls';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { leads } from '../../support/run.ts';
import { findAuthority, type Listener, listenInEachTest, token } from './support.ts';
import { until } from '../../support/until.ts';

const evil = '\u001b]8;;http://x\u0007\u001b[2J\u009b31m\u202e\r\u0000\u200f\u2066end';
const dangerous =
  // Everything that moves a cursor, reorders text or hides it; a line feed ends our own lines.
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

const listen = listenInEachTest();

/** Bytes as no well-behaved client would send them. */
function sendRaw(listener: Listener, head: string, body: Buffer): Promise<string> {
  const { port } = new URL(listener.url);
  return new Promise((resolve, reject) => {
    const ca = readFileSync(findAuthority(listener.home));
    const socket = connect({ host: '127.0.0.1', servername: 'localhost', port: Number(port), ca }, () => {
      socket.write(
        Buffer.from(`${head}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`, 'latin1'),
      );
      socket.write(body);
    });
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

it.each(['pretty', 'events', 'leads'])(
  'promise 13: nothing received drives the terminal: %s',
  async (format) => {
    const listener = await listen(['--format', format, '--verbose', '--explain'], {
      terminal: 120,
      env: { NO_COLOR: '1' },
    });
    const record = {
      id: `id ${evil}`,
      category: evil,
      contact: { name: evil, email: evil, phone: evil, [evil]: evil },
      metadata: { source: evil },
      createdAt: evil,
    };
    const authorized = `Host: localhost\r\nX-Webhook-Token: ${token}\r\nContent-Type: application/json`;
    const odd = 'X-Odd: \u009b31m caf\u00e9 \u0085';
    const body = (more: object): Buffer => Buffer.from(JSON.stringify({ ...record, ...more }));
    const answers = [
      await sendRaw(listener, `POST /x?%1b[2J HTTP/1.1\r\n${authorized}\r\n${odd}`, body({})),
      await sendRaw(listener, `POST /x HTTP/1.1\r\n${authorized}`, body({ category: 'other', [evil]: 1 })),
      await sendRaw(listener, `POST /x HTTP/1.1\r\nHost: localhost\r\nX-Webhook-Token: \u009b31m`, body({})),
      await sendRaw(listener, `POST /x HTTP/1.1\r\n${authorized}`, Buffer.from(`{"id":${evil}`)),
      await sendRaw(listener, `POST /\u009b2J HTTP/1.1\r\nHost: x`, body({})),
      await sendRaw(listener, `P\u001bST / HTTP/1.1\r\nHost: x`, body({})),
    ];
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['200', '200', '401', '400', '400', '400']);
    await listener.stop();
    await until(() => listener.stderr.text().includes('accepted'));
    expect(listener.stdout.text()).not.toMatch(dangerous);
    expect(listener.stderr.text()).not.toMatch(dangerous);
    if (format !== 'pretty') expect(listener.stdout.text()).toContain('\\u001b');
    const options = { home: listener.home, terminal: 120, env: { NO_COLOR: '1' } };
    for (const words of [['list'], ['list', '--json'], ['show', record.id], ['export']]) {
      const run = await leads(['inbox', ...words], options);
      expect(run.exitCode).toBe(0);
      expect(run.stdout).not.toMatch(dangerous);
    }
  },
);

it('promise 13: a pipe gets the exact value', async () => {
  const listener = await listen(['--format', 'leads']);
  const exact = '{"id":"a","name":"\\u001b[2J \u202e\u009b"}';
  await listener.post(exact);
  await listener.stop();
  expect(listener.stdout.text()).toBe(`${exact}\n`);
});

it('starts the summary on a line of its own after the ^C of the terminal', async () => {
  const listener = await listen([], { terminal: 80, env: { NO_COLOR: '1' } });
  const before = listener.stderr.text().length;
  expect((await listener.stop()).stderr.slice(before)).toMatch(/^\n0 accepted/);
});
