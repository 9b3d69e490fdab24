import { hmacScheme } from '../schemes/hmac-scheme.ts';

/**
 * `X-Hub-Signature-256: sha256=<hex>` over the body alone. The older SHA-1 header is ignored.
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export const github = hmacScheme({
  name: 'github',
  signatureHeader: 'x-hub-signature-256',
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  prefix: 'sha256=',
  content: '{body}',
  secretEncoding: 'utf8',
  timestampFormat: 'unix',
  toleranceMs: 0,
});
