import type { Preset } from '../preset.ts';

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries; the older SHA-1 header is ignored. */
export const github: Preset = {
  name: 'github',
  signatureHeader: 'x-hub-signature-256',
  prefix: 'sha256=',
  content: '{body}',
  secret: "the webhook's secret",
};
