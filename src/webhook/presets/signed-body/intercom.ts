import type { Preset } from '../preset.ts';

/** https://developers.intercom.com/docs/webhooks/setting-up-webhooks#signed-notifications */
export const intercom: Preset = {
  name: 'intercom',
  signatureHeader: 'x-hub-signature',
  algorithm: 'hmac-sha1',
  prefix: 'sha1=',
  content: '{body}',
  secret: "the app's client secret",
};
