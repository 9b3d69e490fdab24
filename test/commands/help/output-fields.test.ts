import { expect, it } from 'vitest';
import { jsonSchemas } from '../../../.config/schemas/json-schemas.ts';
import { describeProgram } from '../../../src/commands/help/help-data.ts';
import type { CommandData } from '../../../src/commands/help/output-schema.ts';
import { commands } from '../../../src/program.ts';

const withBelow = (command: CommandData): CommandData[] => [command, ...command.commands.flatMap(withBelow)];
const described = (await describeProgram(commands)).commands.flatMap(withBelow);
const schemas = jsonSchemas('open');

/** The objects that a schema allows, each as the fields that it always has and those that it may have. */
function objectsOf(schema: Schema): { always: string[]; sometimes: string[] }[] {
  const { anyOf, oneOf, properties = {}, required = [] } = schema;
  const several = anyOf ?? oneOf;
  if (several !== undefined) return several.flatMap(objectsOf);
  return [
    {
      always: [...required].sort(),
      sometimes: Object.keys(properties)
        .filter((key) => !required.includes(key))
        .sort(),
    },
  ];
}

type Schema = ReturnType<typeof jsonSchemas> extends ReadonlyMap<string, infer S> ? S : never;

it.each(described.filter(({ schema, output }) => schema !== null && output.length > 0))(
  'help --json names the fields of the schema of $name',
  ({ schema, output }) => {
    const found = schemas.get(/schemas\/(.*)\.json$/.exec(schema ?? '')?.[1] ?? '');
    const objects = found === undefined ? [] : objectsOf(found);
    for (const { fields, sometimes } of output)
      expect(objects).toContainEqual({ always: [...fields].sort(), sometimes: [...sometimes].sort() });
  },
);
