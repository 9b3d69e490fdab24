import { command } from '../flags/command-spec.ts';

export default command({
  name: 'demo',
  summary: 'a tour of it all in ten seconds',
  description:
    'A tour of it all in ten seconds: real commands on this machine, in a temporary directory.\n' +
    'A service, its leads pulled, the same leads pushed with one twice, one forged and one lost, ' +
    'and an audit that finds and repairs the loss.\n' +
    'Everything that it starts and stores is gone at its end.',
  flags: {},
  exits: { 7: 'a step did not do what it should' },
  examples: ['leads demo'],
  load: () => import('./run.ts'),
});
