import * as z from 'zod';
import { declared } from './declared.ts';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** By name, such as `stats`. Published ones are open, since a later release may add a field; closed ones are for tests. */
export const jsonSchemas = (kind: 'open' | 'closed'): ReadonlyMap<string, JsonSchema> =>
  new Map(
    Object.entries(declared).map(([name, { version, schema }]) => [
      name,
      {
        $id: `urn:leads-cli:${name}:${version}`,
        ...z.toJSONSchema(schema, { io: kind === 'open' ? 'input' : 'output' }),
      },
    ]),
  );

/** What whoever reads the first would trip over in the second: a field that is gone, is of another kind, or may be missing now. */
export function breaks(before: unknown, now: unknown, at = ''): readonly string[] {
  if (typeof before !== 'object' || before === null) return before === now ? [] : [at];
  if (typeof now !== 'object' || now === null) return [at];
  const known = now as Readonly<Record<string, unknown>>;
  return Object.entries(before as Readonly<Record<string, unknown>>).flatMap(([key, value]) => {
    // A field may have that name too.
    if (key !== 'required' || !Array.isArray(value)) return breaks(value, known[key], `${at}/${key}`);
    const still = Array.isArray(known[key]) ? known[key] : [];
    return value.filter((name) => !still.includes(name)).map((name) => `${at}/${String(name)}`);
  });
}
