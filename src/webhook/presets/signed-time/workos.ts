import type { Preset } from '../preset.ts';

/** https://workos.com/docs/events/data-syncing/webhooks */
export const workos: Preset = {
  name: 'workos',
  signatureHeader: 'workos-signature',
  timestampPrefix: 't=',
  prefix: 'v1=',
  separator: ', ',
  content: '{timestamp}.{body}',
  timestampFormat: 'milliseconds',
  secret: "the endpoint's secret",
};
