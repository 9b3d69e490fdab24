import { wholeNumber } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { schemeFlags } from '../flags/scheme-flags.ts';
import { inboxFlags, rejectFirst, replayToFlag, reportFlags, trustFlags } from '../flags/shared-flags.ts';

export const flags = {
  port: { value: 'n', type: wholeNumber(0, 65_535), default: '0', help: 'of 127.0.0.1, 0 for any' },
  open: { help: 'open the page in the browser' },
  ...reportFlags,
  ...inboxFlags,
  ...inGroup('Replay', { replayTo: replayToFlag }),
  ...schemeFlags('How replays are signed (default: not at all)'),
  ...trustFlags,
} satisfies Flags;

export type InspectOptions = OptionsOf<typeof flags>;

/** Throws a `UsageError` for flags that would be ignored: with `--html` nothing is served. */
export function rejectContradictions({ html, personalData, open, port, replayTo }: InspectOptions): void {
  const served = open ? '--open' : replayTo.length > 0 ? '--replay-to' : port === 0 ? undefined : '--port';
  rejectFirst(
    [personalData && html === undefined, '--personal-data is about the report: it needs --html FILE'],
    [
      html !== undefined && served !== undefined,
      `--html writes a report and serves no page: it does not go with ${served ?? ''}`,
    ],
  );
}
