import { settingKeys } from '../../config/setting-keys.ts';
import { environmentVariables } from './environment.ts';
import { exitCodes } from './exit-codes.ts';
import { twoColumns, wrap } from './layout.ts';
import type { topicNames } from './root-help.ts';

interface Topic {
  readonly about: string;
  readonly rows: () => readonly (readonly [term: string, text: string])[];
  readonly after?: string;
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
      settingKeys.filter(({ name }) => name.startsWith('api.')).map(({ name, help }) => [name, help]),
    after: 'Example:\n  $ leads config set api.params.since created_after',
  },
} satisfies Readonly<Record<TopicName, Topic>>;

export const isTopic = (name: string): name is TopicName => Object.hasOwn(topics, name);

/** `leads help TOPIC`, for a terminal of so many columns. */
export function topicHelp(name: TopicName, width: number): string {
  const topic: Topic = topics[name];
  const rows = topic.rows();
  const termWidth = Math.max(...rows.map(([term]) => term.length));
  const parts = [wrap(topic.about, width), twoColumns(rows, termWidth, width)];
  if (topic.after !== undefined) parts.push(wrap(topic.after, width));
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
