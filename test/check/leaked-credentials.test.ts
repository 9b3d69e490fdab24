import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { check } from './support.ts';
import { openServer } from '../support/open-server.ts';

const secret = 'a-Shared-Secret-of-the-Tests';

/** The ways in which a program may write bytes. */
const written: Readonly<Record<string, (bytes: Buffer) => string>> = {
  hex: (bytes) => bytes.toString('hex'),
  'hex in capitals': (bytes) => bytes.toString('hex').toUpperCase(),
  base64: (bytes) => bytes.toString('base64'),
  base64url: (bytes) => bytes.toString('base64url'),
};

/** A receiver by GitHub's scheme that tells, with each refusal, what `tell` makes of the signature that it expected. */
async function tellingReceiver(tell: (expected: Buffer) => string): Promise<string> {
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const expected = createHmac('sha256', secret).update(body).digest();
      const isRight = request.headers['x-hub-signature-256'] === `sha256=${expected.toString('hex')}`;
      response.writeHead(isRight ? 200 : 401).end(isRight ? '' : tell(expected));
    });
  });
  const opened = await openServer(server);
  onTestFinished(opened.close);
  return `${opened.url}/`;
}

const probes = ['--only', 'credential', '--only', 'leak'];
const flags = ['--scheme', 'github', '--secret', secret, ...probes];

test.each(Object.keys(written))('an expected signature in %s is found, and not shown', async (form) => {
  const told: string[] = [];
  const url = await tellingReceiver((expected) => {
    told.push(written[form]?.(expected) ?? '');
    return `expected ${told.at(-1) ?? ''}!`;
  });
  const run = await check([url, ...flags]);
  expect(run.failed).toEqual(['leak.secret']);
  expect(told.filter((one) => run.stdout.includes(one.replace(/=+$/, '')))).toEqual([]);
});

test.each(Object.keys(written))('a secret in %s is found, and not shown', async (form) => {
  const told = written[form]?.(Buffer.from(secret)) ?? '';
  const run = await check([await tellingReceiver(() => `key ${told}!`), ...flags]);
  expect(run.failed).toEqual(['leak.secret']);
  expect(run.stdout).not.toContain(told.replace(/=+$/, ''));
});
