import type { Problem } from '../http/problem-answer.ts';
import type { WireReplay, WireReplayed, WireTarget } from '../wire.ts';

/** Sends stored deliveries once more, to targets that the operator named. */
export interface Replays {
  readonly targets: readonly WireTarget[];
  /** The address of one of them, without credentials; undefined for any other name. */
  urlOf(name: string): string | undefined;
  /** Why it was not sent is a problem; that the target did not take it is a result. */
  replay(asked: WireReplay): Promise<WireReplayed | Problem>;
  close(): Promise<void>;
}
