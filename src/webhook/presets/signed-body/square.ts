import type { Preset } from '../preset.ts';

/** https://developer.squareup.com/docs/webhooks/step3validate; the URL is the notification URL as Square knows it. */
export const square: Preset = {
  name: 'square',
  signatureHeader: 'x-square-hmacsha256-signature',
  encoding: 'base64',
  content: '{url}{body}',
  secret: "the subscription's signature key",
};
