import { anyText, text } from '../../config/value-types.ts';
import { settingKeys } from '../../config/setting-keys.ts';
import { command, commandGroup } from '../flags/command-spec.ts';
import type { Arguments, Flags } from '../flags/flag.ts';
import { formatFlags } from '../flags/shared-flags.ts';

const listFlags = { ...formatFlags(['table', 'json']) } satisfies Flags;
const keyArgs = {
  key: { type: { ...text, choices: settingKeys.map(({ name }) => name) }, help: 'name of the setting' },
} satisfies Arguments;
const setArgs = {
  ...keyArgs,
  value: {
    type: anyText,
    optional: true,
    help: '- reads stdin; without it, secrets are read from the terminal',
  },
} satisfies Arguments;
const useArgs = { name: { type: text, help: 'of a stored profile' } } satisfies Arguments;

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
      load: async () => ({ run: (await import('./show-settings.ts')).listSettings }),
    }),
    command({
      name: 'get',
      summary: 'print one setting',
      arguments: keyArgs,
      examples: ['leads config get base-url'],
      load: async () => ({ run: (await import('./show-settings.ts')).getSetting }),
    }),
    command({
      name: 'set',
      summary: 'store one setting in the profile',
      arguments: setArgs,
      allowsNewProfile: true,
      listing: { title: 'Settings', rows: settingKeys.map(({ name, help }) => [name, help] as const) },
      examples: ['leads config set base-url https://api.example.com', 'leads config set api-key - < key.txt'],
      load: async () => ({ run: (await import('./change-settings.ts')).setSetting }),
    }),
    command({
      name: 'unset',
      summary: 'remove one setting from the profile',
      arguments: keyArgs,
      examples: ['leads config unset api.pagination'],
      load: async () => ({ run: (await import('./change-settings.ts')).unsetSetting }),
    }),
    command({
      name: 'edit',
      summary: 'open the configuration file in $EDITOR, and check it',
      allowsNewProfile: true,
      examples: ['leads config edit'],
      load: async () => ({ run: (await import('./change-settings.ts')).editConfig }),
    }),
    command({
      name: 'path',
      summary: 'print where the configuration file is',
      examples: ['leads config path'],
      load: async () => ({ run: (await import('./show-settings.ts')).printPath }),
    }),
    command({
      name: 'profiles',
      summary: 'the stored profiles, and which is in use',
      flags: listFlags,
      allowsNewProfile: true,
      output: [{ what: 'one for each profile', fields: ['name', 'current', 'baseUrl', 'hasKey'] }],
      examples: ['leads config profiles'],
      subcommands: [
        command({
          name: 'remove',
          summary: 'remove a stored profile, its API key with it',
          arguments: useArgs,
          allowsNewProfile: true,
          examples: ['leads config profiles remove staging'],
          load: async () => ({ run: (await import('./change-settings.ts')).removeProfile }),
        }),
      ],
      load: async () => ({ run: (await import('./show-settings.ts')).listProfiles }),
    }),
    command({
      name: 'use',
      summary: 'choose the profile that is used without --profile',
      arguments: useArgs,
      examples: ['leads config use default'],
      load: async () => ({ run: (await import('./change-settings.ts')).useProfile }),
    }),
  ],
});
