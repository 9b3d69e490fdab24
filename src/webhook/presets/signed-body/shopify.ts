import type { Preset } from '../preset.ts';

/** https://shopify.dev/docs/apps/build/webhooks/subscribe/https */
export const shopify: Preset = {
  name: 'shopify',
  signatureHeader: 'x-shopify-hmac-sha256',
  encoding: 'base64',
  content: '{body}',
  secret: "the app's client secret",
};
