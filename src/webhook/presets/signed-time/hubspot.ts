import type { Preset } from '../preset.ts';

/** https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation (version 3) */
export const hubspot: Preset = {
  name: 'hubspot',
  signatureHeader: 'x-hubspot-signature-v3',
  encoding: 'base64',
  content: '{method}{decodedUrl}{body}{timestamp}',
  timestampHeader: 'x-hubspot-request-timestamp',
  timestampFormat: 'milliseconds',
  secret: "the app's client secret",
};
