import { lazily, type CommandSpec } from '../command-spec.ts';

export default {
  name: 'login',
  summary: 'store an API key and check it',
  flags: (command) => {
    command
      .option('--api-key-file <file>', 'read the key from a file (- for stdin)')
      .option('--no-check', 'store the key without trying it');
  },
  examples: ['leads login --base-url https://api.example.com', 'leads login --api-key-file key.txt'],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;
