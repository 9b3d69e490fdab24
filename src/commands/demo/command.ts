import { command } from '../flags/command-spec.ts';

export default command({
  name: 'demo',
  summary: 'a tour of it all in ten seconds',
  description:
    'a tour of it all in ten seconds: a service, its leads pulled, the same leads pushed with one twice, one forged and ' +
    'one lost, and an audit that finds and repairs the loss; real commands on this machine, in a temporary directory',
  flags: {
    fast: { help: 'on a terminal: do not wait for Enter before each step' },
  },
  exits: { 7: 'a step did not do what it should' },
  examples: ['leads demo', 'leads demo --fast'],
  load: () => import('./run.ts'),
});
