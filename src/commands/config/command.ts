import { type CommandSpec, lazily } from '../command-spec.ts';

export default {
  name: 'config',
  summary: 'show and change settings',
  examples: ['leads config list', 'leads config set api.pagination cursor', 'leads config path'],
  subcommands: [
    {
      name: 'list',
      summary: 'the settings in force and where each comes from',
      formats: ['table', 'json'],
      examples: ['leads config list', 'leads config list --json'],
      run: lazily(() => import('./list.ts')),
    },
    {
      name: 'get',
      summary: 'print one setting',
      flags: (command) => command.argument('<key>', 'as config list names it'),
      examples: ['leads config get base-url'],
      run: lazily(() => import('./get.ts')),
    },
    {
      name: 'set',
      summary: 'store one setting in the profile',
      flags: (command) =>
        command
          .argument('<key>', 'as config list names it')
          .argument('[value]', '- reads stdin; secrets are asked for when left out'),
      examples: ['leads config set base-url https://api.example.com', 'leads config set api-key - < key.txt'],
      run: lazily(() => import('./set.ts')),
    },
    {
      name: 'unset',
      summary: 'remove one setting from the profile',
      flags: (command) => command.argument('<key>', 'as config list names it'),
      examples: ['leads config unset api.pagination'],
      run: lazily(() => import('./unset.ts')),
    },
    {
      name: 'path',
      summary: 'print where the configuration file is',
      examples: ['leads config path'],
      run: lazily(() => import('./path.ts')),
    },
  ],
} satisfies CommandSpec;
