import Stripe from 'stripe';
import { Webhook as Svix } from 'svix';
import { test } from 'vitest';
import { expectVerified } from '../commands/send/verifying-receiver.ts';

const text = 'a secret of the send tests';
const whsec = 'whsec_c2VjcmV0IG9mIHRoZSBzZW5kIHRlc3Rz';

test("stripe accepts it, and rejects another secret's", async () => {
  await expectVerified('stripe', text, ({ body, headers }) =>
    Stripe.webhooks.constructEvent(body, String(headers['stripe-signature']), text),
  );
});

test("svix accepts it, and rejects another secret's", async () => {
  await expectVerified('svix', whsec, ({ body, headers }) =>
    new Svix(whsec).verify(body, headers as Record<string, string>),
  );
});
