import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { test } from 'vitest';
import type { Received } from './support.ts';
import { expectVerified } from './verifying-receiver.ts';

const whsec = 'whsec_c2VjcmV0IG9mIHRoZSBzZW5kIHRlc3Rz';
const text = 'a secret of the send tests';
const header = ({ headers }: Received, name: string): string => String(headers[name]);

/** Receivers as the vendors' documentation writes them: each throws for what it does not accept. */
const receivers: readonly (readonly [string, string, string, (request: Received) => unknown])[] = [
  [
    'standardwebhooks',
    'standard-webhooks',
    whsec,
    ({ body, headers }) => new StandardWebhook(whsec).verify(body, headers as Record<string, string>),
  ],
  [
    '@octokit/webhooks-methods',
    'github',
    text,
    async (request) => {
      const ok = await verifyGithub(text, request.body.toString(), header(request, 'x-hub-signature-256'));
      if (!ok) throw new Error('wrong signature');
    },
  ],
];

test.each(receivers)("%s accepts it, and rejects another secret's", async (_, scheme, secret, verify) => {
  await expectVerified(scheme, secret, verify);
});
