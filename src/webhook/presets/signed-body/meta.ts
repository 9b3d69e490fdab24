import type { Preset } from '../preset.ts';

/** https://developers.facebook.com/docs/graph-api/webhooks/getting-started#validate-payloads */
export const meta: Preset = {
  name: 'meta',
  signatureHeader: 'x-hub-signature-256',
  prefix: 'sha256=',
  content: '{body}',
  secret: 'the app secret',
};
