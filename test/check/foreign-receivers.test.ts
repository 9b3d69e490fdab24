import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import {
  expectOtherFormsRefused,
  express,
  leftToTheApplication,
  raw,
  serveExpress,
} from './express-receiver.ts';
import { check } from './support.ts';

const secret = `whsec_${Buffer.from('a shared secret of thirty bytes').toString('base64')}`;

test('express.json() with standardwebhooks over JSON that was parsed and written again refuses what is written otherwise', async () => {
  const url = await serveExpress(express.json(), (body, headers) =>
    new StandardWebhook(secret).verify(JSON.stringify(body), headers),
  );
  const run = await check([url, '--scheme', 'standard-webhooks', '--secret', secret]);
  expectOtherFormsRefused(run);
});

test('express.raw() with standardwebhooks', async () => {
  const url = await serveExpress(raw, (body, headers) =>
    new StandardWebhook(secret).verify(body as Buffer, headers),
  );
  const run = await check([url, '--scheme', 'standard-webhooks', '--secret', secret]);
  expect([...run.failed].sort()).toEqual(['credential.doubled', ...leftToTheApplication].sort());
});
