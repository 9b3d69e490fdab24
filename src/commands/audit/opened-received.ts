import type { ReceivedSide } from '../../audit/received/received-side.ts';
import type { Inbox } from '../../inbox/inbox.ts';

/** The received side, open. */
export interface OpenedReceived extends ReceivedSide {
  /** For messages, such as `the inbox /home/x/inbox.db`. */
  readonly name: string;
  /** Where `--take-in` stores leads; undefined where it is not asked for. */
  readonly store?: Pick<Inbox, 'take' | 'lookUp'> | undefined;
  close(): Promise<void>;
}
