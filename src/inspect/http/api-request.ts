import type { Answer, StreamedAnswer } from '../../http/server/request/send-answer.ts';
import type { InspectKey } from '../access/inspect-key.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { Reads } from '../reads/reads.ts';
import type { Replays } from '../replay/replays.ts';
import type { QueryValues } from './query-values.ts';

/** One request of the page, which its guard has let pass. */
export interface ApiRequest {
  readonly query: QueryValues;
  /** The number in the path; 0 where it has none. */
  readonly seq: number;
  readonly body: Uint8Array;
}

export type ApiAnswer = Promise<Answer | StreamedAnswer>;

/** What requests are answered from. */
export interface ApiParts {
  /** Path of the file, `:memory:`, or the URL of the database without its password. */
  readonly location: string;
  readonly isReceiving: boolean;
  readonly key: InspectKey;
  /** Told that a page has exchanged the key. */
  readonly onSession?: (() => void) | undefined;
  readonly reads: Reads;
  readonly feed: EventFeed;
  readonly replays: Replays;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that nobody sets. */
  readonly steady: () => number;
}
