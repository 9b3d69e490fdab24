import type { Preset } from '../preset.ts';

/** https://www.typeform.com/developers/webhooks/secure-your-webhooks/ */
export const typeform: Preset = {
  name: 'typeform',
  signatureHeader: 'typeform-signature',
  encoding: 'base64',
  prefix: 'sha256=',
  content: '{body}',
  secret: "the webhook's secret",
};
