import type { Scheme } from '../scheme.ts';
import { hmacScheme } from '../schemes/hmac-scheme.ts';

/**
 * `webhook-id`, `webhook-timestamp` and `webhook-signature: v1,<base64> …` over `<id>.<timestamp>.<body>`; the secret is
 * base64 after `whsec_`. With a public key after `whpk_`, the Ed25519 signature `v1a,<base64>` is checked instead.
 * Signatures of other versions are ignored.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const standardWebhooks = (toleranceMs: number): Scheme =>
  signedId('standard-webhooks', 'webhook', toleranceMs);

/** The same under Svix's own header names. https://docs.svix.com/receiving/verifying-payloads/how-manual */
export const svix = (toleranceMs: number): Scheme => signedId('svix', 'svix', toleranceMs);

const signedId = (name: string, headers: string, toleranceMs: number): Scheme =>
  hmacScheme({
    name,
    signatureHeader: `${headers}-signature`,
    algorithm: 'hmac-sha256',
    encoding: 'base64',
    prefix: 'v1,',
    separator: ' ',
    ed25519Prefix: 'v1a,',
    content: '{id}.{timestamp}.{body}',
    secretEncoding: 'whsec',
    timestampHeader: `${headers}-timestamp`,
    timestampFormat: 'unix',
    nonceHeader: `${headers}-id`,
    // With a full stop in the id, id and time could be divided in another way under the same signature.
    noncePattern: /^[!-\-/-~]+$/,
    toleranceMs,
  });
