import { presets } from './presets/all.ts';

/** Every scheme, apart from the code that signs and verifies: help names them and loads nothing else. */
export const schemeNames: readonly string[] = [
  'token',
  ...presets.map(({ name }) => name),
  'rfc9421',
  'custom',
];
