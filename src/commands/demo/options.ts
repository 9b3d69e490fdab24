import type { Flags, OptionsOf } from '../flags/flag.ts';

export const flags = {
  keep: { help: 'leave the service running at the end' },
} satisfies Flags;

export type DemoOptions = OptionsOf<typeof flags>;
