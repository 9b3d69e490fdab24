import { settingKeys } from '../../config/setting-keys.ts';
import { command, commandGroup } from '../flags/command-spec.ts';
import { keyArgs, listFlags, setArgs, useArgs } from './options.ts';

export default commandGroup({
  name: 'config',
  summary: 'the settings in force, where each comes from, and how to change them',
  examples: ['leads config list', 'leads config set api.pagination cursor', 'leads config path'],
  subcommands: [
    command({
      name: 'list',
      summary: 'the settings in force and where each comes from',
      flags: listFlags,
      output: [{ what: 'one for each setting', fields: ['key', 'value', 'from'] }],
      examples: ['leads config list', 'leads config list --json'],
      load: () => import('./list-settings.ts'),
    }),
    command({
      name: 'get',
      summary: 'print one setting',
      arguments: keyArgs,
      examples: ['leads config get base-url'],
      load: () => import('./get-setting.ts'),
    }),
    command({
      name: 'set',
      summary: 'store one setting in the profile',
      arguments: setArgs,
      allowsNewProfile: true,
      listing: { title: 'Settings', rows: settingKeys.map(({ name, help }) => [name, help] as const) },
      examples: ['leads config set base-url https://api.example.com', 'leads config set api-key - < key.txt'],
      load: () => import('./set-setting.ts'),
    }),
    command({
      name: 'unset',
      summary: 'remove one setting from the profile',
      arguments: keyArgs,
      examples: ['leads config unset api.pagination'],
      load: () => import('./unset-setting.ts'),
    }),
    command({
      name: 'path',
      summary: 'print where the configuration file is',
      examples: ['leads config path'],
      load: () => import('./print-path.ts'),
    }),
    command({
      name: 'profiles',
      summary: 'the stored profiles, and which is in use',
      flags: listFlags,
      allowsNewProfile: true,
      output: [{ what: 'one for each profile', fields: ['name', 'current', 'baseUrl', 'hasKey'] }],
      examples: ['leads config profiles'],
      load: () => import('./list-profiles.ts'),
    }),
    command({
      name: 'use',
      summary: 'choose the profile that is used without --profile',
      arguments: useArgs,
      examples: ['leads config use default'],
      load: () => import('./use-profile.ts'),
    }),
  ],
});
