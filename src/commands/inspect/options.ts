import { wholeNumber } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import {
  inboxFlags,
  rejectFirst,
  replayToFlag,
  reportFlags,
  timeFlags,
  trustFlags,
  schemeFlags,
} from '../flags/shared-flags.ts';

const { since, until } = timeFlags('received');

export const flags = {
  port: { value: 'n', type: wholeNumber(0, 65_535), default: '0', help: 'of 127.0.0.1, 0 for any' },
  open: { help: 'open the page in the browser' },
  ...reportFlags,
  ...{ since, until },
  ...inboxFlags,
  ...inGroup('Replay', { replayTo: replayToFlag }),
  ...schemeFlags('How replays are signed (default: not at all)'),
  ...trustFlags,
} satisfies Flags;

export type InspectOptions = OptionsOf<typeof flags>;

/** Throws a `UsageError` for flags that would be ignored: with `--html` nothing is served. */
export function rejectContradictions(options: InspectOptions): void {
  const { html, personalData, since, until, open, port, replayTo } = options;
  const alone = personalData ? '--personal-data' : (since ?? until) !== undefined ? '--since or --until' : '';
  const served = open ? '--open' : replayTo.length > 0 ? '--replay-to' : port === 0 ? undefined : '--port';
  rejectFirst(
    [alone !== '' && html === undefined, `${alone} is about the report: it needs --html FILE`],
    [
      html !== undefined && served !== undefined,
      `--html writes a report and serves no page: it does not go with ${served ?? ''}`,
    ],
  );
}
