import { createHmac } from 'node:crypto';
import { sign as octokit } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { SchemeName } from '../../src/library/webhook.ts';

export const whsec = `whsec_${Buffer.from('a secret of twenty-four.').toString('base64')}`;

/**
 * A delivery as a vendor's own library signs it, now; the large ones of Stripe and Svix are in test/oracles, which runs the
 * same tests with them.
 */
export interface VendorDelivery {
  readonly scheme: SchemeName;
  readonly secret: string;
  readonly headers: (body: string) => Record<string, string> | Promise<Record<string, string>>;
}

const seconds = (): number => Math.floor(Date.now() / 1000);

export const vendors: readonly VendorDelivery[] = [
  {
    scheme: 'standard-webhooks',
    secret: whsec,
    headers: (body) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(seconds()),
      'webhook-signature': new StandardWebhook(whsec).sign('msg_1', new Date(seconds() * 1000), body),
    }),
  },
  {
    scheme: 'svix',
    secret: whsec,
    headers: (body) => ({
      'svix-id': 'msg_2',
      'svix-timestamp': String(seconds()),
      'svix-signature': new StandardWebhook(whsec).sign('msg_2', new Date(seconds() * 1000), body),
    }),
  },
  {
    scheme: 'stripe',
    secret: 'whsec_test_secret',
    headers: (body) => {
      const at = seconds();
      const mac = createHmac('sha256', 'whsec_test_secret').update(`${at}.${body}`).digest('hex');
      return { 'stripe-signature': `t=${at},v1=${mac}` };
    },
  },
  {
    scheme: 'github',
    secret: 'octo',
    headers: async (body) => ({ 'x-hub-signature-256': await octokit('octo', body) }),
  },
];
