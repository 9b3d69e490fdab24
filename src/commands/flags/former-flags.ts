import { formerSchemeFlag } from './scheme-flags.ts';

const keyOfTarget = (key: string): readonly [string, string] => [
  '--target',
  `it is a key of a target: --target '{"forward":"URL","${key}":true}' in place of --forward-to URL`,
];

/** By flag of earlier releases: a flag of the commands that had it, and what stands in its place. */
const former: Readonly<Record<string, readonly [flag: string, now: string]>> = {
  '--forward-path': keyOfTarget('keepPath'),
  '--forward-insecure': keyOfTarget('insecure'),
  '--forward-best-effort': keyOfTarget('bestEffort'),
  '--respond': ['--simulate', 'it is --simulate status=STATUS now'],
  '--fail-first': ['--simulate', 'it is --simulate fail-first=N now'],
  '--delay': ['--simulate', 'it is --simulate delay=DURATION now'],
  '--show-answer': ['--simulate', '-v shows the answers of forwards'],
  '--drain-delay': [
    '--simulate',
    'it is a setting of the profile now: leads config set listen.drain-delay 5s',
  ],
  '--drain-timeout': [
    '--simulate',
    'it is a setting of the profile now: leads config set listen.drain-timeout 5s',
  ],
  '--inbox-url-file': ['--inbox', 'it is --inbox @FILE now, and --inbox @- for stdin'],
  '--inbox-insecure': [
    '--inbox',
    "it is insecure=true in the inbox's URL now: postgres://HOST/DATABASE?sslmode=disable&insecure=true",
  ],
};

/** What stands in the place of a flag of earlier releases, for a command with these; undefined for any other word. */
export function formerFlag(word: string, names: readonly string[]): string | undefined {
  const [flag, now] = former[word] ?? [];
  if (flag !== undefined && names.includes(flag)) return now;
  return names.includes('--scheme') ? formerSchemeFlag(word) : undefined;
}
