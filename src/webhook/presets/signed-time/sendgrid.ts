import type { Preset } from '../preset.ts';

/**
 * https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 */
export const sendgrid: Preset = {
  name: 'sendgrid',
  signatureHeader: 'x-twilio-email-event-webhook-signature',
  algorithm: 'ecdsa-p256-sha256-der',
  encoding: 'base64',
  content: '{timestamp}{body}',
  timestampHeader: 'x-twilio-email-event-webhook-timestamp',
  secret: 'the public key, in base64',
};
