import { type CommandSpec, lazily } from '../command-spec.ts';

export default {
  name: 'logout',
  summary: 'remove the stored API key',
  examples: ['leads logout', 'leads logout --profile staging'],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;
