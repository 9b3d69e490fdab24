import { duration, pollInterval, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { httpUrl, writtenFile } from '../flags/flag-values.ts';
import { leadAtFlag, schemeFlags } from '../flags/delivery-flags.ts';
import { formatFlags, inboxFlags } from '../flags/shared-flags.ts';
import { command, members } from '../flags/command-spec.ts';

const highestPort = 65_535;

const adminAddress: ValueType<{ readonly host: string; readonly port: number }> = {
  parse(typed) {
    const [, ipv6, name, digits] =
      /^(?:(?:\[([\da-fA-F:.]+)\]|([^\s:/@[\]]+)):)?(\d{1,5})$/.exec(typed) ?? [];
    if (digits === undefined || Number(digits) > highestPort) return undefined;
    return { host: ipv6 ?? name ?? '127.0.0.1', port: Number(digits) };
  },
  expected: 'a port such as 9090, or HOST:PORT such as 0.0.0.0:9090 or [::1]:9090',
};

/** `status` is that of every answer, after a delay of `delayMs`; the first `failFirst` deliveries of each lead fail. */
export interface Simulation {
  readonly status?: number | undefined;
  readonly failFirst?: number | undefined;
  readonly delayMs?: number | undefined;
}

const simulation: ValueType<Simulation> = {
  parse(typed) {
    const parts = typed.split(',').map((part) => part.split('=', 2) as [string, string]);
    const texts = new Map(parts);
    const parsed: Simulation = {
      status: wholeNumber(200, 599).parse(texts.get('status') ?? ''),
      failFirst: wholeNumber(1).parse(texts.get('fail-first') ?? ''),
      delayMs: duration.parse(texts.get('delay') ?? ''),
    };
    // A part with another name, one that is repeated, or a wrong value leaves fewer values than parts.
    const values = Object.values(parsed).filter((value) => value !== undefined);
    return values.length === parts.length ? parsed : undefined;
  },
  expected: 'a list such as status=503,fail-first=2,delay=1s',
};

const urlPath: ValueType<string> = {
  parse: (typed) => (typed.startsWith('/') ? typed : undefined),
  expected: 'a path that starts with /',
};

export const flags = {
  ...schemeFlags('Who may deliver (one is needed)'),
  ...inGroup('Where', {
    port: { value: 'n', type: wholeNumber(0, highestPort), default: '8443', help: 'to listen on, 0 for any' },
    host: { value: 'address', type: text, default: '127.0.0.1', help: 'to listen on' },
    path: { value: 'path', type: urlPath, otherwise: 'any', help: 'take deliveries at this path only' },
    http: { without: ['--cert', '--key'], help: 'plain HTTP, for use behind a tunnel or proxy' },
    cert: {
      value: 'file',
      type: text,
      with: ['--key'],
      otherwise: 'made by a local authority',
      help: 'certificate in PEM',
    },
    key: { value: 'file', type: text, with: ['--cert'], help: 'its private key' },
  }),
  ...inGroup('What to do with each lead', {
    forwardTo: { value: 'url', type: httpUrl, repeatable: true, help: 'pass the exact bytes and headers on' },
    exec: { value: 'command', type: text, repeatable: true, help: 'run a command with the lead on stdin' },
    output: {
      value: 'file',
      type: writtenFile,
      repeatable: true,
      help: 'append each lead to a file, durably',
    },
    target: {
      value: 'json|file',
      type: text,
      repeatable: true,
      help: "one of these with more than its address, such as which leads: see 'leads help targets'",
    },
    ...leadAtFlag(
      'where it is in the body: a JSON Pointer such as /data, or /items/* for each element of an array',
    ),
    ...inboxFlags,
    inbox: {
      ...inboxFlags.inbox,
      help: 'a file or postgres://HOST/DATABASE; or @FILE that holds such a URL, or :memory: for nowhere',
    },
    retain: {
      value: 'duration',
      type: duration,
      otherwise: 'forever',
      help: 'how long deliveries are kept; ids, and leads that wait for a target, stay',
    },
    backfill: {
      value: 'duration',
      type: duration,
      help: 'on start, fetch what the inbox lacks of that window',
    },
    backfillEvery: {
      value: 'duration',
      type: pollInterval,
      with: ['--backfill'],
      help: 'do that again and again, so that what no delivery brought is fetched',
    },
  }),
  ...inGroup('What is printed', {
    ...formatFlags(['pretty', 'events', 'redacted', 'leads']),
    explain: { help: 'say which other scheme or encoding a rejected delivery would match' },
  }),
  ...inGroup('The page over the inbox', {
    inspect: {
      value: 'port',
      type: wholeNumber(0, highestPort),
      bare: '0',
      // The page is another process, which could not read the URL from stdin too, nor the memory of this one.
      without: ['--inbox @-', '--inbox :memory:'],
      otherwise: 'off',
      help: 'serve it on 127.0.0.1 from a process of its own; the address that is printed holds a key',
    },
  }),
  ...inGroup('Operations', {
    admin: {
      value: '[host:]port',
      type: adminAddress,
      otherwise: 'off',
      help: 'serve /livez, /readyz and /metrics there, on 127.0.0.1 unless a host is named',
    },
  }),
  ...inGroup('For integration tests', {
    count: { value: 'n', type: wholeNumber(1), help: 'end once every target has had so many new leads' },
    for: {
      value: 'duration',
      type: duration,
      help: 'end at the latest then; exit 7 if --count was not reached',
    },
    simulate: {
      value: 'list',
      type: simulation,
      help: 'of status=503 (of every answer), fail-first=2 (deliveries of each lead), delay=1s (of every answer)',
    },
  }),
} satisfies Flags;

export type ListenOptions = OptionsOf<typeof flags>;

export default command({
  name: 'listen',
  summary: 'receive pushed leads over HTTPS: verify, store each once, print, forward',
  description:
    'Receives pushed leads over HTTPS: checks who delivers, stores each lead durably, then answers 200.\n' +
    'A lead that came before is a duplicate. Targets get each new one once it is stored.',
  flags,
  everyday: [
    'token',
    'scheme',
    'secret',
    'forwardTo',
    'exec',
    'output',
    'inbox',
    'backfill',
    'port',
    'path',
    'inspect',
    'count',
    'json',
  ],
  exits: { 7: '--count was not reached in the time of --for' },
  output: [
    {
      what: 'the first line',
      type: 'listening',
      fields: members('url path scheme inbox ca'),
      sometimes: ['admin'],
    },
    {
      what: 'one for each lead of a delivery, when it is answered',
      type: 'delivery',
      fields: members('receivedAt verdict reason status durationMs leadId remote attempt source lead'),
      sometimes: members('detail leadNumber leadCount firstAt differs warnings explanation'),
    },
    {
      what: 'one for each attempt to forward a lead',
      type: 'forward',
      fields: members('at leadId target attempt state ok answer status durationMs dueAt'),
    },
    {
      what: 'the deliveries with --format redacted',
      type: 'delivery',
      fields: members('receivedAt verdict reason status durationMs leadId attempt'),
    },
    {
      what: 'one for each round of --backfill',
      type: 'backfill',
      fields: members('round startedAt durationMs fetched known notStored complete error'),
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members('accepted duplicate rejected other reasons durationMs'),
    },
  ],
  examples: [
    'leads listen --token secret',
    'leads listen --token secret --forward-to http://localhost:3000/webhook',
    'leads listen --token secret --backfill 24h --backfill-every 15m',
    'leads listen --token secret --count 3 --for 30s --format events',
  ],
  load: () => import('./run.ts'),
});
