import { settingKeys } from '../../config/setting-keys.ts';
import { environmentVariables } from './environment.ts';
import { exitCodes } from './exit-codes.ts';
import { shellLines, twoColumns, wrap } from './layout.ts';
import type { TopicName } from './root-help.ts';
import { schemesTopic } from './schemes-topic.ts';

type Row = readonly [term: string, text: string];

/** A help topic as `help --json` describes it. */
export interface TopicData {
  readonly name: string;
  readonly about: string;
  readonly rows: readonly Row[];
  /** Further tables, each under its title. */
  readonly tables: readonly { readonly title: string; readonly rows: readonly Row[] }[];
  readonly after: string;
  readonly examples: readonly string[];
}

interface Topic {
  readonly about: string;
  readonly rows: () => readonly Row[];
  /** Further tables, each under its title. */
  readonly tables?: () => readonly { readonly title: string; readonly rows: readonly Row[] }[];
  readonly after?: string;
  /** Command lines that run as printed. */
  readonly examples?: readonly string[];
}

const topics = {
  environment: {
    about: 'Environment variables. A flag goes before them, and they go before the profile in the file.',
    rows: () => environmentVariables,
  },
  'exit-codes': {
    about: 'What leads ends with, for scripts.',
    rows: () => exitCodes.map(([code, meaning]) => [String(code), meaning]),
    after: 'Ctrl-C is the ordinary end (0) of listen, --follow and --watch, unless --count is not reached.',
  },
  dialect: {
    about:
      'How one service names what the specification leaves open. Each setting belongs to a profile; without it, leads ' +
      "finds out from the service's answers.",
    rows: () =>
      settingKeys
        .filter(({ name }) => name.startsWith('api.') || name === 'webhook.lead')
        .map(({ name, help }) => [name, help]),
    examples: ['leads config set api.params.since created_after'],
  },
  schemes: schemesTopic,
} satisfies Readonly<Record<TopicName, Topic>>;

export function describeTopic(name: TopicName): TopicData {
  const { about, rows, tables, after = '', examples = [] }: Topic = topics[name];
  return { name, about, rows: rows(), tables: tables?.() ?? [], after, examples };
}

/** `leads help TOPIC`, for a terminal of so many columns. */
export function topicHelp(name: TopicName, width: number): string {
  const { about, rows, tables, after, examples } = describeTopic(name);
  const table = (all: readonly Row[]): string[] =>
    twoColumns(all, Math.max(...all.map(([term]) => term.length)), width);
  const parts = [wrap(about, width), table(rows)];
  for (const further of tables) parts.push([`${further.title}:`, ...table(further.rows)]);
  if (after !== '') parts.push(wrap(after, width));
  if (examples.length > 0) parts.push(['Examples:', ...examples.flatMap((line) => shellLines(line, width))]);
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
