import type { AnsweredDelivery } from '../../../receiver/answered-delivery.ts';
import type { BackfillRound } from '../../../receiver/backfill/round.ts';
import type { Tally } from './tally.ts';

/** The address of a receiver that is ready, and how it works. */
export interface Listening {
  readonly url: string;
  readonly path: string | undefined;
  readonly scheme: string;
  /** The inbox's file, `:memory:`, or the URL of its database without password. */
  readonly inbox: string;
  readonly caPath: string | undefined;
  /** URL of `--admin`. */
  readonly admin?: string | undefined;
}

/** One form of stdout: the text for each thing that happens, empty for nothing. */
export interface Printer {
  listening(listening: Listening): string;
  delivery(delivery: AnsweredDelivery): string;
  /** A round of `--backfill`, after the deliveries that it made. */
  backfill(round: BackfillRound): string;
  summary(tally: Tally, durationMs: number): string;
}
