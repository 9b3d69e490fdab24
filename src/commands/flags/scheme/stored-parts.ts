import { ConfigError } from '../../../errors.ts';
import { duration } from '../../../config/value-types.ts';
import type { Settings } from '../../../config/settings.ts';
import type { OptionsOf } from '../flag.ts';
import { schemePartKeys } from '../../../webhook/schemes/scheme-parts.ts';
import { schemePartFlags } from './part-flags.ts';

const storedTypes = { ...schemePartFlags, tolerance: { value: 'duration', type: duration } } as const;

/** Parts of a scheme that are stored in a profile or a file. */
export type StoredParts = Partial<OptionsOf<typeof storedTypes>>;

/** Checks parts that are stored as texts as the flags of those names are checked; `fail` makes the error of one. */
export function parseParts(
  texts: Readonly<Record<string, string | undefined>>,
  fail: (key: string, text: string, expected: string) => ConfigError,
): StoredParts {
  const parts = [...schemePartKeys, 'tolerance' as const].flatMap((key) => {
    const text = texts[key];
    if (text === undefined) return [];
    const { type } = storedTypes[key];
    const value = type.parse(text);
    if (value === undefined) throw fail(key, text, type.expected);
    return [[key, value] as const];
  });
  return Object.fromEntries(parts);
}

/** The profile's own parts of a scheme. */
export function partsOfProfile({ webhookCustom, webhookParts }: Settings): StoredParts {
  return parseParts({ ...webhookCustom, ...webhookParts }, (key, text, expected) => {
    const setting = key in webhookCustom ? `webhook.custom.${key}` : `webhook.${key}`;
    return new ConfigError(`the setting ${setting}: '${text}' is not ${expected}`, {
      hint: `change it with 'leads config set ${setting} …'`,
    });
  });
}
