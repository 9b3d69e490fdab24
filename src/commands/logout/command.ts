import { command } from '../flags/command-spec.ts';

export default command({
  name: 'logout',
  summary: 'remove the stored API key',
  examples: ['leads logout', 'leads logout --profile staging'],
  load: () => import('./run.ts'),
});
