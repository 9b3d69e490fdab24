import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { express, leftToTheApplication, probe, raw, serveExpress } from './express-receiver.ts';
import { check } from './support.ts';

const secret = `whsec_${Buffer.from('a shared secret of thirty bytes').toString('base64')}`;

test('express.json() with standardwebhooks over JSON that was parsed and written again refuses what is written otherwise', async () => {
  const url = await serveExpress(express.json(), (body, headers) =>
    new StandardWebhook(secret).verify(JSON.stringify(body), headers),
  );
  const run = await check([url, '--scheme', 'standard-webhooks', '--secret', secret]);
  // From node 26 on JSON.parse takes any depth, and the body reaches the application.
  expect(run.failed.filter((name) => name !== 'body.deep-answer')).toEqual([
    'credential.doubled',
    'replay.nonce',
    'body.large-integers',
    'body.escapes',
    'body.white-space',
    'body.array',
    'body.no-id',
    'leak.stack-trace',
  ]);
  expect(probe(run, 'body.white-space')).toMatchObject({ seen: { status: 400 }, detail: 'it answered 400' });
  expect(probe(run, 'body.white-space')?.hint).toContain('raw bytes');
  expect(run.exitCode).toBe(7);
});

test('express.raw() with standardwebhooks', async () => {
  const url = await serveExpress(raw, (body, headers) =>
    new StandardWebhook(secret).verify(body as Buffer, headers),
  );
  const run = await check([url, '--scheme', 'standard-webhooks', '--secret', secret]);
  const known = ['credential.doubled', 'body.null', 'body.deep-answer', ...leftToTheApplication];
  expect(run.failed).toEqual(expect.arrayContaining(known));
  expect(run.failed.filter((name) => !known.includes(name))).toEqual(['body.empty']);
});
