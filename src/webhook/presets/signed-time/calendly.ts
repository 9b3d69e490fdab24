import type { Preset } from '../preset.ts';

/** https://developer.calendly.com/api-docs/ZG9jOjM2MzE2MDM4-webhook-signatures; its example tolerates three minutes. */
export const calendly: Preset = {
  name: 'calendly',
  signatureHeader: 'calendly-webhook-signature',
  timestampPrefix: 't=',
  prefix: 'v1=',
  separator: ',',
  content: '{timestamp}.{body}',
  toleranceMs: 180_000,
  secret: "the subscription's signing key",
};
