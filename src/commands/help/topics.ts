import { settingKeys } from '../../config/setting-keys.ts';
import { exitCodes } from '../../exit-codes.ts';
import { handshakes, presets, vendorSecrets } from '../../webhook/vendor-presets.ts';
import { schemePartKeys, schemeParts } from '../../webhook/scheme-options.ts';
import { wrap } from '../../output/terminal/terminal.ts';
import { type Row, shellLines, type TopicName, twoColumns } from './root-help.ts';

interface Topic {
  readonly about: string;
  readonly rows: readonly Row[];
  readonly tables?: readonly { readonly title: string; readonly rows: readonly Row[] }[];
  readonly after?: string;
  /** Command lines that run as printed. */
  readonly examples?: readonly string[];
}

export const environmentVariables: readonly Row[] = [
  ['LEADS_API_KEY', 'API key; goes before the stored one'],
  ['LEADS_BASE_URL', 'address of the service'],
  ['LEADS_PROFILE', 'which profile of the configuration file'],
  ['LEADS_CONFIG_DIR', 'directory of config.json'],
  ['LEADS_DATA_DIR', 'directory of the inbox and of the certificates that leads makes'],
  ['LEADS_INBOX', "the inbox, if not the profile's own: a file, or postgres://HOST/DATABASE"],
  ['PGPASSWORD, PGPASSFILE', 'password of that database, or the file that it is in; else ~/.pgpass'],
  ['LEADS_WEBHOOK_TOKEN', 'shared token of deliveries'],
  ['LEADS_WEBHOOK_SECRET', 'secret that deliveries are signed with'],
  ['HTTPS_PROXY, NO_PROXY', 'proxy for requests to the service, and hosts without one'],
  ['NODE_EXTRA_CA_CERTS', 'file with further certificate authorities'],
  ['NO_COLOR, FORCE_COLOR', 'never, or always, colours'],
  ['TERM=dumb', 'a terminal without colours and cursor movement'],
];

const schemeKeyRows: readonly Row[] = [
  ['scheme', 'a name from above (default: custom)'],
  ['tolerance', 'how far a signed time may be off (default: 5m)'],
  ['publicUrl', 'what senders call, where a proxy changes it and the scheme signs it'],
  ...schemePartKeys.map((key): Row => [
    key,
    `of ${schemeParts[key].schemes.join(' and ')}: ${schemeParts[key].help}`,
  ]),
];

const schemesTopic: Topic = {
  about:
    'How deliveries are authenticated: --scheme NAME with --secret, or --token alone. Of asymmetric keys, what receives ' +
    'takes the public half (or derives it from the private one), and what sends takes the private one: PEM, JWK, or the ' +
    `key as the vendor shows it. The registration at ${Object.keys(handshakes).join(', ')} is answered.`,
  rows: [
    ['token', 'x-webhook-token: the shared token itself; nothing is signed'],
    ...presets.map((preset): Row => [preset.name, describePreset(preset)]),
    [
      'custom',
      'any other service, as JSON: \'{"signatureHeader":"X-Signature","prefix":"sha256="}\', or a file that holds it',
    ],
  ],
  tables: [{ title: 'Keys of a scheme as JSON', rows: schemeKeyRows }],
  examples: [
    'leads listen --scheme paddle --secret-file paddle.txt',
    `leads listen --scheme '{"scheme":"square","publicUrl":"https://a.example"}' --secret s3cret`,
    'leads sandbox --webhook http://localhost --scheme paddle --secret s3cret',
    `leads listen --scheme '{"scheme":"token","timestampHeader":"X-Time"}' --token s3cret`,
    `leads config set webhook.scheme '{"signatureHeader":"X-Signature"}'`,
  ],
};

/** For example `X-Hub-Signature-256: sha256=… over {body}; secret: …`. */
function describePreset(preset: (typeof presets)[number]): string {
  const {
    signatureHeader,
    prefix = '',
    timestampPrefix,
    separator = '',
    content,
    algorithm,
    otherNames,
  } = preset;
  const value = timestampPrefix === undefined ? `${prefix}…` : `${timestampPrefix}…${separator}${prefix}…`;
  const also = (otherNames ?? []).map((names) => ` or ${names.signatureHeader}`).join('');
  const signed = content.replace('{decodedUrl}', '{url}');
  const how = algorithm === undefined || algorithm === 'hmac-sha256' ? '' : ` (${algorithm})`;
  return `${signatureHeader}${also}: ${value} over ${signed}${how}; secret: ${vendorSecrets[preset.name]}`;
}

const targetsTopic: Topic = {
  about:
    'What listen forwards each lead to: --forward-to URL, --exec COMMAND, --output FILE, each as often as needed, and --target ' +
    'with JSON, or a file that holds such an object, where more is meant. A lead is accepted once it is stored; each target follows on its own, and one that fails holds no other.',
  rows: [
    [
      'forward',
      'URL that gets the exact bytes and headers; user:password@ in it becomes Basic authorization',
    ],
    [
      'exec',
      'command that gets the lead on stdin, its id in LEAD_ID and the number of the try in LEAD_ATTEMPT',
    ],
    ['output', 'file that each lead is appended to, durably'],
    [
      'when',
      'which leads: a condition as of --where, or a list of them that must all be met (default: every lead)',
    ],
    ['giveUp', 'how long a lead that the target does not take is tried again (default: 3d)'],
    ['keepPath', 'true: the path and query of the delivery go behind the path of the URL'],
    ['insecure', 'true: plain HTTP to another host is meant'],
  ],
  tables: [
    {
      title: 'To a queue or a database, as in the examples (exit 0 means that it has the lead)',
      rows: [
        ['kcat -D', 'a lead may hold line breaks, but never this character: it stays one message'],
        ['nats -J', 'waits until a stream has it; without --force-stdin the message would be empty'],
        ['cat |', 'without it aws could not open file:///dev/stdin, which is a socket here'],
        ['insert.sql', '\\set lead `cat`'],
        ['', "insert into leads (lead) values (:'lead') on conflict do nothing;"],
        ['its table', "create table leads (lead json); create unique index on leads ((lead->>'id'));"],
      ],
    },
  ],
  after:
    'A delivery is answered 200 once its leads are on disk; its targets follow. Each gets every new lead at least once: at ' +
    'once, and again after 5 s at first and an hour at most, as Retry-After asks, across restarts, until giveUp. Then the ' +
    "lead is dead there: kept, said and counted, until 'leads inbox retry' makes it due. A target that is added later gets " +
    'new leads only.',
  examples: [
    'leads listen --token s3cret --forward-to http://localhost:3000/hook --output leads.ndjson',
    `leads listen --token s3cret --target '{"forward":"http://localhost:3000","when":"category=solar"}'`,
    `leads listen --token s3cret --exec 'kcat -P -b kafka:9092 -t leads -k "$LEAD_ID" -D "\\x1e"'`,
    "leads listen --token s3cret --exec 'nats pub leads -J -q --force-stdin --no-templates'",
    "leads listen --token s3cret --exec 'cat | aws sqs send-message --queue-url https://sqs.eu-west-1.amazonaws.com/1/leads --message-body file:///dev/stdin'",
    "leads listen --token s3cret --exec 'psql -X -v ON_ERROR_STOP=1 -d leads -f insert.sql'",
  ],
};

const topics: Readonly<Record<TopicName, Topic>> = {
  environment: {
    about: 'Environment variables. A flag goes before them, and they go before the profile in the file.',
    rows: environmentVariables,
  },
  'exit-codes': {
    about: 'What leads ends with, for scripts.',
    rows: exitCodes.map(([code, meaning]) => [String(code), meaning]),
    after: 'Ctrl-C is the ordinary end (0) of listen, --follow and --watch, unless --count is not reached.',
  },
  dialect: {
    about:
      'How one service names what the specification leaves open. Each setting belongs to a profile; without it, leads ' +
      "finds out from the service's answers.",
    rows: settingKeys
      .filter(({ name }) => /^api\.|^webhook\.(lead|id)$/.test(name))
      .map(({ name, help }) => [name, help]),
    examples: ['leads config set api.params.since created_after'],
  },
  schemes: schemesTopic,
  targets: targetsTopic,
};

export function describeTopic(name: TopicName) {
  const { about, rows, tables = [], after = '', examples = [] } = topics[name];
  return { name, about, rows, tables, after, examples };
}

/** `leads help TOPIC`, for a terminal of `width` columns. */
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
