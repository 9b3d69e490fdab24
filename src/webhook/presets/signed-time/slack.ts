import type { Preset } from '../preset.ts';

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
export const slack: Preset = {
  name: 'slack',
  signatureHeader: 'x-slack-signature',
  prefix: 'v0=',
  content: 'v0:{timestamp}:{body}',
  timestampHeader: 'x-slack-request-timestamp',
  secret: "the app's signing secret",
};
