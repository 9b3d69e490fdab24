import type { Preset } from '../preset.ts';

/** https://docs.discord.com/developers/interactions/overview#validating-security-request-headers */
export const discord: Preset = {
  name: 'discord',
  signatureHeader: 'x-signature-ed25519',
  algorithm: 'ed25519',
  content: '{timestamp}{body}',
  timestampHeader: 'x-signature-timestamp',
  secret: "the application's public key, in hex",
};
