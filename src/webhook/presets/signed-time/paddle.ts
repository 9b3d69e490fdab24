import type { Preset } from '../preset.ts';

/** https://developer.paddle.com/webhooks/signature-verification */
export const paddle: Preset = {
  name: 'paddle',
  signatureHeader: 'paddle-signature',
  timestampPrefix: 'ts=',
  prefix: 'h1=',
  separator: ';',
  content: '{timestamp}:{body}',
  secret: "the notification destination's secret key",
};
