import { lazily, type CommandSpec } from '../command-spec.ts';

export default {
  name: 'demo',
  summary: 'a tour of it all in ten seconds',
  description:
    'a tour of it all in ten seconds: a service, its leads pulled, the same leads pushed with one twice and one forged, ' +
    'and both sides compared; real commands on this machine, in a temporary directory',
  flags: (command) => command.option('--keep', 'leave the service running at the end'),
  examples: ['leads demo', 'leads demo --keep'],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;
