import type { Preset } from '../preset.ts';

/**
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md; with a public key after
 * `whpk_`, the Ed25519 signature `v1a,…` is checked instead. Signatures of other versions are ignored.
 */
export const standardWebhooks: Preset = {
  name: 'standard-webhooks',
  ...namesWith('webhook'),
  encoding: 'base64',
  prefix: 'v1,',
  separator: ' ',
  ed25519Prefix: 'v1a,',
  content: '{id}.{timestamp}.{body}',
  secretEncoding: 'whsec',
  // With a full stop in the id, id and time could be divided in another way under the same signature.
  noncePattern: /^[!-\-/-~]+$/,
  secret: 'whsec_ and base64, or an Ed25519 key after whpk_',
};

/** The headers of a vendor that uses the scheme under its own brand, and the unbranded ones. */
export const branded = (brand: string): Preset => ({
  ...standardWebhooks,
  ...namesWith(brand),
  otherNames: [namesWith('webhook')],
});

function namesWith(brand: string) {
  return {
    signatureHeader: `${brand}-signature`,
    timestampHeader: `${brand}-timestamp`,
    nonceHeader: `${brand}-id`,
  };
}
