import type { Preset } from '../preset.ts';

/** https://www.mux.com/docs/core/verify-webhook-signatures */
export const mux: Preset = {
  name: 'mux',
  signatureHeader: 'mux-signature',
  timestampPrefix: 't=',
  prefix: 'v1=',
  separator: ',',
  content: '{timestamp}.{body}',
  secret: "the webhook's signing secret",
};
