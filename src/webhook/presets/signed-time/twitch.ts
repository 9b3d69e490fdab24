import type { Preset } from '../preset.ts';

/** https://dev.twitch.tv/docs/eventsub/handling-webhook-events/#verifying-the-event-message */
export const twitch: Preset = {
  name: 'twitch',
  signatureHeader: 'twitch-eventsub-message-signature',
  prefix: 'sha256=',
  content: '{id}{timestamp}{body}',
  timestampHeader: 'twitch-eventsub-message-timestamp',
  timestampFormat: 'iso',
  nonceHeader: 'twitch-eventsub-message-id',
  toleranceMs: 600_000,
  secret: "the subscription's secret",
};
