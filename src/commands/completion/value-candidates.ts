import { settingKeys } from '../../config/setting-keys.ts';
import { schemeNames } from '../../webhook/presets.ts';
import type { Argument, ValueFlag } from '../flags/flag.ts';
import type { TypedLine } from './typed-line.ts';

/** What is stored on this machine. Nothing in it is offered unless it is a plain word. */
export interface LocalValues {
  readonly profiles: () => readonly string[];
  /** The newest first. */
  readonly leadIds: (line: TypedLine) => Promise<readonly Candidate[]>;
  readonly categories: (line: TypedLine) => Promise<readonly string[]>;
  /** Dotted paths of the fields of leads. */
  readonly fields: (line: TypedLine) => Promise<readonly string[]>;
}

const named = (values: readonly string[]): Candidate[] => values.map((value) => ({ value }));

/** The values of a flag or argument that begin with what is typed. */
export async function valuesOf(
  of: ValueFlag<unknown> | Argument,
  typed: string,
  line: TypedLine,
  local: LocalValues,
): Promise<Completion> {
  const { choices } = of.type;
  const { known } = of;
  if (choices !== undefined) return { candidates: matching(named(choices), typed) };
  if (known === undefined) {
    return 'value' in of && of.value === 'file' ? { candidates: [], files: true } : nothing;
  }
  return sources[known](typed, line, local);
}

type Source = (typed: string, line: TypedLine, local: LocalValues) => Completion | Promise<Completion>;

const among = (values: readonly string[], typed: string): Completion => ({
  candidates: matching(named(values), typed),
});

const sources: Readonly<Record<NonNullable<Argument['known']>, Source>> = {
  files: () => ({ candidates: [], files: true }),
  profiles: (typed, _, local) => among(local.profiles(), typed),
  settings: (typed) => ({
    candidates: matching(
      settingKeys.map(({ name, help }) => ({ value: name, help })),
      typed,
    ),
  }),
  'setting-values': (typed, { args }) => among(settingValues(args[0]), typed),
  'lead-ids': async (typed, line, local) => ({ candidates: matching(await local.leadIds(line), typed) }),
  categories: async (typed, line, local) => among(await local.categories(line), typed),
  fields: async (typed, line, local) => among(await local.fields(line), typed),
  'field-list': async (typed, line, local) => fieldList(typed, await local.fields(line)),
  conditions: condition,
};

function settingValues(name: string | undefined): readonly string[] {
  if (name === 'webhook.scheme') return schemeNames;
  return settingKeys.find((setting) => setting.name === name)?.type.choices ?? [];
}

/** `id,contact.em`: the last of them is completed. */
function fieldList(typed: string, fields: readonly string[]): Completion {
  if (!/^[\w.,@+-]*$/.test(typed)) return nothing;
  const before = typed.slice(0, typed.lastIndexOf(',') + 1);
  const further = fields.filter((field) => !before.split(',').includes(field));
  return { candidates: matching(named(further), typed, before) };
}

/** `contact.em` as `contact.email=`, and `category=so` as `category=solar`. */
async function condition(typed: string, line: TypedLine, local: LocalValues): Promise<Completion> {
  const category = 'category=';
  if (typed.startsWith(category)) {
    return { candidates: matching(named(await local.categories(line)), typed, category) };
  }
  const fields = await local.fields(line);
  return { candidates: matching(named(fields.map((field) => `${field}=`)), typed), isOpen: true };
}

/** One word that completes the typed one. */
export interface Candidate {
  readonly value: string;
  /** A few words of ours for shells that show them; never anything that came from outside. */
  readonly help?: string;
}

/** What a shell offers. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Names of files, which the shell knows itself. */
  readonly files?: boolean;
  /** The word goes on behind a candidate: no space comes after it. */
  readonly isOpen?: boolean;
}

export const nothing: Completion = { candidates: [] };

/** Those that begin with what is typed, each behind `prefix`. */
export const matching = (
  candidates: readonly Candidate[],
  typed: string,
  prefix = '',
): readonly Candidate[] =>
  candidates
    .map(({ value, ...help }) => ({ value: prefix + value, ...help }))
    .filter(({ value }) => value.startsWith(typed));
