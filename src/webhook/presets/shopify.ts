import { hmacScheme } from '../schemes/hmac-scheme.ts';

/**
 * `X-Shopify-Hmac-Sha256: <base64>` over the body, keyed with the app's client secret as text.
 * https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 */
export const shopify = hmacScheme({
  name: 'shopify',
  signatureHeader: 'x-shopify-hmac-sha256',
  algorithm: 'hmac-sha256',
  encoding: 'base64',
  prefix: '',
  content: '{body}',
  secretEncoding: 'utf8',
  timestampFormat: 'unix',
  toleranceMs: 0,
});
