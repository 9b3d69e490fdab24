import * as z from 'zod/mini';

// What does not apply is null, false or empty.
const text = z.nullable(z.string());
const texts = z.readonly(z.array(z.string()));
const rows = z.readonly(z.array(z.readonly(z.tuple([z.string(), z.string()]))));
const exitCodes = z.array(z.object({ code: z.int(), meaning: z.string() }));

const flag = z.object({
  /** As it is typed, such as `--page-size`. */
  name: z.string(),
  short: text,
  /** As help shows it, such as `-o, --output <file>`. */
  term: z.string(),
  /** Other names that are understood: `--no-gzip` beside `--gzip`, and older ones. */
  aliases: texts,
  help: z.string(),
  /** Heading in help. */
  group: z.string(),
  /** Placeholder of its value. */
  value: text,
  /** What a value must be, in words. */
  type: text,
  choices: texts,
  /** The value without the flag. */
  default: text,
  /** In words, what holds without the flag. */
  otherwise: text,
  /** The value of the flag alone. */
  alone: text,
  repeatable: z.boolean(),
  /** The environment variable and the setting that hold without the flag, in this order. */
  environment: text,
  setting: text,
  /** `--json` means `--format json`. */
  shortFor: text,
});

const described = z.object({
  /** With those of the commands that it is in, such as `config set`. */
  name: z.string(),
  summary: z.string(),
  /** Paragraphs, each on a line. */
  description: z.string(),
  usage: z.string(),
  arguments: z.array(
    z.object({
      name: z.string(),
      /** As help shows it: `<id>`, `[file]`. */
      term: z.string(),
      help: z.string(),
      type: z.string(),
      choices: texts,
      required: z.boolean(),
      repeatable: z.boolean(),
    }),
  ),
  flags: z.array(flag),
  /** What an argument may be, or what the command finds, where that is listed. */
  listing: z.nullable(z.object({ title: z.string(), rows })),
  exitCodes,
  /** The objects of its JSON forms; empty without one. */
  output: z.array(z.object({ what: z.string(), type: text, fields: texts, sometimes: texts })),
  /** A file of the package: a JSON Schema (2020-12) of them. */
  schema: text,
  /** Command lines that run as printed. */
  examples: texts,
});

export interface CommandData extends z.output<typeof described> {
  readonly commands: readonly CommandData[];
}

const commands = z.readonly(z.array(z.lazy((): z.ZodMiniType<CommandData> => command)));
const command = z.extend(described, { commands });

const topic = z.object({
  name: z.string(),
  about: z.string(),
  rows,
  tables: z.readonly(z.array(z.object({ title: z.string(), rows }))),
  after: z.string(),
  examples: texts,
});

const program = z.object({
  name: z.literal('leads'),
  version: z.string(),
  summary: z.string(),
  usage: z.string(),
  /** Those that every command takes. */
  flags: z.array(flag),
  environment: z.array(z.object({ name: z.string(), meaning: z.string() })),
  /** Of all commands; those of one command are with it. */
  exitCodes,
  topics: z.array(topic),
  commands: z.array(z.extend(described, { commands, group: z.string() })),
});

/** What `leads help --json` prints of the whole program, of a command, or of a topic. */
export const helpSchema = z.union([program, command, topic]);

export type ProgramData = z.output<typeof program>;
export type FlagData = z.output<typeof flag>;
export type TopicData = z.output<typeof topic>;
