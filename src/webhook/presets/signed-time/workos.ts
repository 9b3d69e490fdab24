import type { Preset } from '../preset.ts';

/** https://workos.com/docs/events/data-syncing/webhooks; its libraries tolerate three minutes. */
export const workos: Preset = {
  name: 'workos',
  signatureHeader: 'workos-signature',
  timestampPrefix: 't=',
  prefix: 'v1=',
  separator: ', ',
  content: '{timestamp}.{body}',
  timestampFormat: 'milliseconds',
  toleranceMs: 180_000,
  secret: "the endpoint's secret",
};
