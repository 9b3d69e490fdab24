import { anyText, text } from '../../config/value-types.ts';
import type { Arguments, ArgumentsOf, Flags, OptionsOf } from '../flags/flag.ts';
import { formatFlags } from '../flags/shared-flags.ts';

export const listFlags = { ...formatFlags(['table', 'json']) } satisfies Flags;
export type ConfigListOptions = OptionsOf<typeof listFlags>;

export const keyArgs = {
  key: { type: text, known: 'settings', help: 'name of the setting' },
} satisfies Arguments;
export type ConfigKeyOptions = ArgumentsOf<typeof keyArgs>;

export const setArgs = {
  ...keyArgs,
  value: {
    type: anyText,
    optional: true,
    known: 'setting-values',
    help: '- reads stdin; without it, secrets are read from the terminal',
  },
} satisfies Arguments;
export type ConfigSetOptions = ArgumentsOf<typeof setArgs>;

export type ConfigProfilesOptions = OptionsOf<typeof listFlags>;

export const useArgs = {
  name: { type: text, known: 'profiles', help: 'of a stored profile' },
} satisfies Arguments;
export type ConfigUseOptions = ArgumentsOf<typeof useArgs>;
