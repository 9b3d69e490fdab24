// Writes the manual pages into dist/man/, leads.1 and one for each command, from what `leads help --json` of the program that was
// just built says of itself.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { root } from '../library.mjs';
import { writeFiles } from '../write-files.mjs';
import { argument, commandLines, definitions, page, paragraphs, section } from './mdoc.mjs';

/** The texts by their names below dist/; `builtAt` is when the program was built, in ms. */
function manualPages(program, builtAt) {
  const date = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' }).format(builtAt);
  return new Map([
    ['man/leads.1', programPage(program, date)],
    ...program.commands.map((command) => [
      `man/leads-${command.name}.1`,
      commandPage(command, program, date),
    ]),
  ]);
}

const synopsis = (usage) => [`.Nm ${argument(usage)}`];

const flagRows = (flags) =>
  flags.map(({ term, text, environment, setting }) => {
    const sources = [environment && `environment: ${environment}`, setting && `setting: ${setting}`];
    return [term, [text, ...sources].filter((part) => part).join('; ')];
  });

function flagSections(flags) {
  const groups = [...new Set(flags.map(({ group }) => group))];
  return groups.flatMap((group) => [
    `.Ss ${argument(group)}`,
    ...definitions(flagRows(flags.filter((flag) => flag.group === group))),
  ]);
}

const listing = ({ listing: list }) =>
  list === null ? [] : [`.Ss ${argument(list.title)}`, ...definitions(list.rows)];

const argumentsOf = (command) => definitions(command.arguments.map(({ term, help }) => [term, help]));

const exits = (codes) => definitions(codes.map(({ code, meaning }) => [String(code), meaning]));

const outputOf = ({ output }) =>
  definitions(
    output.map(({ what, type, fields, sometimes }) => [
      type === null ? what : `${type}: ${what}`,
      [...fields, ...sometimes.map((field) => `[${field}]`)].join(', '),
    ]),
  );

function subcommandSection(command) {
  return [
    `.Ss ${argument(command.usage)}`,
    ...paragraphs(command.description || `${command.summary}.`),
    ...argumentsOf(command),
    ...definitions(flagRows(command.flags)),
    ...(command.listing === null ? [] : ['.Pp', ...paragraphs(`${command.listing.title}:`)]),
    ...(command.listing === null ? [] : definitions(command.listing.rows)),
    ...(command.output.length === 0 ? [] : ['.Pp', ...paragraphs('JSON output:'), ...outputOf(command)]),
  ];
}

function commandPage(command, program, date) {
  const examples = [command, ...command.commands].flatMap(({ examples: lines }) => lines);
  return page({
    name: `leads-${command.name}`,
    summary: command.summary,
    date,
    body: [
      ...section('SYNOPSIS', synopsis(command.usage)),
      ...section('DESCRIPTION', [
        ...paragraphs(command.description || `${command.summary}.`),
        ...argumentsOf(command),
        ...listing(command),
      ]),
      ...section('COMMANDS', command.commands.flatMap(subcommandSection)),
      ...section('OPTIONS', flagSections(command.flags)),
      ...section('JSON OUTPUT', outputOf(command)),
      ...section('EXIT STATUS', exits(command.commands.length > 0 ? program.exitCodes : command.exitCodes)),
      ...section('EXAMPLES', commandLines([...new Set(examples)])),
      ...section('SEE ALSO', ['.Xr leads 1']),
    ],
  });
}

function programPage(program, date) {
  const topics = program.topics.filter(({ name }) => name !== 'exit-codes' && name !== 'environment');
  return page({
    name: 'leads',
    summary: program.summary,
    date,
    body: [
      ...section('SYNOPSIS', synopsis(program.usage.startsWith('leads') ? program.usage : 'leads')),
      ...section('COMMANDS', definitions(program.commands.map(({ name, summary }) => [name, summary]))),
      ...section('OPTIONS', flagSections(program.flags)),
      ...topics.flatMap(({ name, about, rows, tables }) =>
        section(name.toUpperCase(), [
          ...paragraphs(about),
          ...definitions(rows),
          ...tables.flatMap((table) => [`.Ss ${argument(table.title)}`, ...definitions(table.rows)]),
        ]),
      ),
      ...section('ENVIRONMENT', definitions(program.environment.map(({ name, meaning }) => [name, meaning]))),
      ...section('EXIT STATUS', exits(program.exitCodes)),
      ...section('EXAMPLES', commandLines(program.topics.flatMap(({ examples }) => examples))),
      ...section(
        'SEE ALSO',
        program.commands
          .map(({ name }) => `leads-${name}`)
          .sort()
          .map((name, i, all) => `.Xr ${name} 1${i < all.length - 1 ? ' ,' : ''}`),
      ),
    ],
  });
}

const { SOURCE_DATE_EPOCH: seconds } = process.env;
const words = [`${root}dist/main.cjs`, 'help', '--json'];
const { stdout } = await promisify(execFile)(process.execPath, words, { maxBuffer: 2 ** 26 });
const pages = manualPages(JSON.parse(stdout), seconds === undefined ? Date.now() : seconds * 1000);
await writeFiles(pages, /\.1$/);
