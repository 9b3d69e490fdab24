import { describeProgram, type CommandData } from '../../src/commands/help/help-data.ts';
import { commands } from '../../src/program.ts';

type Records = CommandData['output'];

const program = await describeProgram(commands);
const withSubcommands = (command: CommandData): CommandData[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];
const recordsByCommand = new Map(
  program.commands.flatMap(withSubcommands).map(({ name, output }) => [name, output]),
);
const errorRecord = [{ what: '', type: null, fields: ['error'], sometimes: [] }];

/** Throws where a run printed a JSON object with other fields than `leads help --json` names. */
export function requireValidJson(argv: readonly string[], stdout: string, stderr: string): void {
  const typed = argv.join(' ');
  const isJson = /(^| )--json\b|--format[ =](json|ndjson|events|redacted)\b/.test(typed);
  if (!isJson || /--help|--junit|--version|-V( |$)/.test(typed)) return;
  const [command = '', subcommand = ''] = argv;
  const records = recordsByCommand.get(`${command} ${subcommand}`) ?? recordsByCommand.get(command) ?? [];
  // A lead has the fields that it was sent with.
  if (records.every(({ fields }) => fields.length > 1)) requireRecords(records, documentsIn(stdout));
  requireRecords(errorRecord, documentsIn(stderr.replace(/^(?!\{"error":).*$/gm, '')));
}

/** A document, the elements of an array, or documents that each begin a line: on a terminal they are indented. */
function documentsIn(stdout: string): readonly object[] {
  try {
    return [JSON.parse(stdout) as object].flat();
  } catch {
    const texts = stdout.split(/^(?=\{)/m).filter((text) => text.trim() !== '');
    return texts.map((text) => JSON.parse(text) as object);
  }
}

function requireRecords(records: Records, documents: readonly object[]): void {
  if (records.length === 0) return;
  for (const document of documents) {
    const keys = Object.keys(document);
    const type = (document as { readonly type?: unknown }).type ?? null;
    const fits = records.some(
      (record) =>
        record.type === type &&
        record.fields.every((field) => keys.includes(field)) &&
        keys.every((key) => record.fields.includes(key) || record.sometimes.includes(key)),
    );
    if (!fits) throw new Error(`help names other fields than these: ${JSON.stringify(document)}`);
  }
}
