// The library's tests again, with deliveries that Stripe's and Svix's own libraries signed.
import Stripe from 'stripe';
import { Webhook as Svix } from 'svix';
import { vi } from 'vitest';

vi.mock(import('../library/vendor-deliveries.ts'), async (original) => {
  const { vendors, whsec } = await original();
  const headersOf = {
    svix: (body: string) => {
      const now = Math.floor(Date.now() / 1000);
      const signature = new Svix(whsec).sign('msg_2', new Date(now * 1000), body);
      return { 'svix-id': 'msg_2', 'svix-timestamp': String(now), 'svix-signature': signature };
    },
    stripe: (payload: string) => ({
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_test_secret' }),
    }),
  };
  return {
    whsec,
    vendors: vendors
      .filter(({ scheme }) => scheme in headersOf)
      .map((one) => ({ ...one, headers: headersOf[one.scheme as keyof typeof headersOf] })),
  };
});

await import('../library/webhook/verify.test.ts');
