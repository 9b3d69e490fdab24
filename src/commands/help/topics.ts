import { settingKeys } from '../../config/setting-keys.ts';
import { environmentVariables } from './environment.ts';
import { exitCodes } from './exit-codes.ts';
import { shellLines, twoColumns, wrap } from './layout.ts';
import type { topicNames } from './root-help.ts';
import { schemesTopic } from './schemes-topic.ts';

type Row = readonly [term: string, text: string];

interface Topic {
  readonly about: string;
  readonly rows: () => readonly Row[];
  /** Further tables, each under its title. */
  readonly tables?: () => readonly { readonly title: string; readonly rows: readonly Row[] }[];
  readonly after?: string;
  /** Command lines that run as printed. */
  readonly examples?: readonly string[];
}

type TopicName = (typeof topicNames)[number];

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

export const isTopic = (name: string): name is TopicName => Object.hasOwn(topics, name);

/** `leads help TOPIC`, for a terminal of so many columns. */
export function topicHelp(name: TopicName, width: number): string {
  const topic: Topic = topics[name];
  const table = (rows: readonly Row[]): string[] =>
    twoColumns(rows, Math.max(...rows.map(([term]) => term.length)), width);
  const parts = [wrap(topic.about, width), table(topic.rows())];
  for (const { title, rows } of topic.tables?.() ?? []) parts.push([`${title}:`, ...table(rows)]);
  if (topic.after !== undefined) parts.push(wrap(topic.after, width));
  if (topic.examples !== undefined)
    parts.push(['Examples:', ...topic.examples.flatMap((line) => shellLines(line, width))]);
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
