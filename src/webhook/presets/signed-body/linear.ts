import type { Preset } from '../preset.ts';

/** https://linear.app/developers/webhooks#securing-webhooks; its time stands in the body and is not checked. */
export const linear: Preset = {
  name: 'linear',
  signatureHeader: 'linear-signature',
  content: '{body}',
  secret: "the webhook's signing secret",
};
