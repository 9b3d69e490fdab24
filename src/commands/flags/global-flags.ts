import { anyText } from '../../config/value-types.ts';
import type { Flags, OptionsOf } from './flag.ts';

/** The flags that every command takes, before and after its name. Their values are checked where settings are read. */
export const globalFlags = {
  profile: {
    value: 'name',
    type: anyText,
    help: 'which account of the configuration file',
    known: 'profiles',
    variable: 'LEADS_PROFILE',
  },
  baseUrl: { value: 'url', type: anyText, help: 'address of the service', setting: 'base-url' },
  timeout: {
    value: 'duration',
    type: anyText,
    help: 'for one request',
    otherwise: '30s',
    setting: 'timeout',
  },
  retries: {
    value: 'n',
    type: anyText,
    help: 'how often a failed request is tried again',
    otherwise: '5',
    setting: 'retries',
  },
  verbose: { short: 'v', help: 'requests, retries and timings on stderr' },
  quiet: { short: 'q', help: 'only data, warnings and errors' },
  color: { negated: true, help: 'no colours' },
} satisfies Flags;

export type Globals = OptionsOf<typeof globalFlags>;

/** Global flags that are answered at once, whatever else was typed. */
export const immediateFlags = {
  version: { short: 'V', help: 'print the version' },
  help: { short: 'h', help: 'show help' },
} satisfies Flags;
