import type { Preset } from '../preset.ts';

/** https://docs.stripe.com/webhooks/signature; the key is the text of the secret, signatures of other versions are ignored. */
export const stripe: Preset = {
  name: 'stripe',
  signatureHeader: 'stripe-signature',
  timestampPrefix: 't=',
  prefix: 'v1=',
  separator: ',',
  content: '{timestamp}.{body}',
  secret: "the endpoint's whole secret, whsec_ included",
};
