// What is checked without the schema library, since every start reads it: schemas made from the declarations that check it.
import * as z from 'zod/mini';
import { configVersion, kebabCase } from '../../src/config/check-config.ts';
import { type SettingKey, settingKeys } from '../../src/config/setting-keys.ts';
import { schemeNames } from '../../src/webhook/presets.ts';
import { schemePartKeys, schemeParts } from '../../src/webhook/scheme-options.ts';

type Shape = Record<string, z.core.$ZodType>;

/** By the text that a setting takes, since its type says no more. */
function valueSchema({ type, isJson, checkedOnUse }: SettingKey): z.core.$ZodType {
  if (isJson === true) return z.union([z.array(z.string()), z.record(z.string(), z.string())]);
  if (checkedOnUse === true) return z.string();
  if (type.parse('true') === true) return z.boolean();
  if (type.choices !== undefined) return z.enum([...type.choices]);
  if (type.parse('1') === 1) return z.int();
  return type.parse('null') === null ? z.nullable(z.string()) : z.string();
}

function shapeOf(keys: readonly SettingKey[], depth = 0): Shape {
  const names = new Set(keys.map(({ path }) => path[depth] ?? ''));
  const member = (name: string): z.core.$ZodType => {
    const below = keys.filter(({ path }) => path[depth] === name);
    const own = below.find(({ path }) => path.length === depth + 1);
    return own === undefined ? z.object(shapeOf(below, depth + 1)) : valueSchema(own);
  };
  return Object.fromEntries([...names].map((name) => [kebabCase(name), z.optional(member(name))]));
}

const text = z.optional(z.string());

/** `config.json`. */
export const configSchema = z.object({
  version: z.literal(configVersion),
  profile: text,
  profiles: z.optional(
    z.record(
      z.string(),
      z.object({
        ...shapeOf(settingKeys),
        'api-key-origin': text,
        'headers-origin': text,
        'set-at': z.optional(z.record(z.string(), z.iso.datetime())),
      }),
    ),
  ),
});

const partSchema = (part: (typeof schemePartKeys)[number]): z.core.$ZodType => {
  const { values } = schemeParts[part];
  return values === undefined ? z.string() : z.enum([...values]);
};

/** What `--scheme` takes as JSON, or as a file. */
export const schemeSchema = z.object({
  version: z.optional(z.literal(1)),
  scheme: z.optional(z.enum([...schemeNames])),
  tolerance: text,
  publicUrl: text,
  ...Object.fromEntries(schemePartKeys.map((part) => [part, z.optional(partSchema(part))])),
});
