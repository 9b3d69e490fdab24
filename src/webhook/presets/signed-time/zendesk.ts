import type { Preset } from '../preset.ts';

/** https://developer.zendesk.com/documentation/webhooks/verifying/ */
export const zendesk: Preset = {
  name: 'zendesk',
  signatureHeader: 'x-zendesk-webhook-signature',
  encoding: 'base64',
  content: '{timestamp}{body}',
  timestampHeader: 'x-zendesk-webhook-signature-timestamp',
  timestampFormat: 'iso',
  secret: "the webhook's signing secret",
};
