import { expect, test } from 'vitest';
import { receiver, send, token } from './support.ts';

test('nothing of an answer drives the terminal', async () => {
  const evil = '\x1b]52;c;aGk=\x07\x1b[2J\u202e\r\nsecond \x9b31m';
  const { url } = await receiver((_, response) => response.end(evil));
  for (const argv of [[], ['--json']]) {
    const { stdout } = await send(url, argv, { terminal: 80, env: { NO_COLOR: '1' } });

    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  }
});

test('a receiver that sends back what it got shows neither the secret nor the signature', async () => {
  const { url, received } = await receiver((request, response) =>
    response.writeHead(401).end(JSON.stringify(request.headers)),
  );
  const secret = 'a secret of the send tests';
  for (const argv of [[], ['--json'], ['--verbose']]) {
    const byToken = await send(url, argv);
    const signed = await send(url, ['--scheme', 'stripe', '--secret', secret, ...argv]);
    const signature = /v1=(\w+)/.exec(String(received.at(-1)?.headers['stripe-signature']))?.[1] ?? 'none';
    expect(signature).toHaveLength(64);
    for (const { stdout, stderr } of [byToken, signed]) {
      for (const hidden of [token, secret, signature]) expect(stdout + stderr).not.toContain(hidden);
    }
  }
});

test('a secret is not shown where the end of a long line cuts it', async () => {
  const { url } = await receiver((_, response) => response.end(`${'x'.repeat(990)}${token} and more`));
  for (const argv of [[], ['--json']]) {
    const { stdout } = await send(url, argv);
    expect(stdout).not.toContain(token.slice(0, 6));
    expect(stdout).toContain('…');
  }
});
