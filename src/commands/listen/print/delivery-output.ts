import type { Context } from '../../../context.ts';
import type { AnsweredDelivery } from '../../../receiver/answered-delivery.ts';
import type { BackfillRound } from '../../../receiver/backfill/round.ts';
import type { Subscribable } from '../../../receiver/event-stream.ts';
import { deliveryRedactor } from '../../../receiver/redact-delivery.ts';
import type { Verifier } from '../../../webhook/scheme.ts';
import type { ListenOptions } from '../options.ts';
import type { StdoutWriter } from '../../../output/stdout-writer.ts';
import { BackfillMessages } from './backfill-messages.ts';
import { choosePrinter } from './choose-printer.ts';
import type { Listening, Printer } from './printer.ts';
import { requestPrinter } from './request-printer.ts';
import { count, emptyTally, summaryLine } from './tally.ts';

type OutputContext = Pick<Context, 'stdout' | 'env' | 'globals' | 'clock' | 'messages'>;

/** What a run prints: data to stdout in the form of `--format`, the count of deliveries and requests to stderr. */
export class DeliveryOutput {
  readonly #printer: Printer;
  readonly #stdout: StdoutWriter;
  readonly #verifier: Verifier;
  readonly #context: OutputContext;
  readonly #tally = emptyTally();
  readonly #backfills: BackfillMessages;
  readonly #started: number;

  private constructor(printer: Printer, stdout: StdoutWriter, verifier: Verifier, context: OutputContext) {
    this.#printer = printer;
    this.#stdout = stdout;
    this.#verifier = verifier;
    this.#context = context;
    this.#backfills = new BackfillMessages(context.messages);
    this.#started = context.clock.now();
  }

  /** The run's duration counts from now. */
  static async open(
    format: ListenOptions['format'],
    stdout: StdoutWriter,
    verifier: Verifier,
    context: OutputContext,
  ): Promise<DeliveryOutput> {
    return new DeliveryOutput(await choosePrinter(format, context), stdout, verifier, context);
  }

  /** Deliveries wait while the reader of stdout is behind. */
  subscribeTo(events: Subscribable<AnsweredDelivery>): void {
    const { globals, messages } = this.#context;
    events.subscribe((event) => count(this.#tally, event));
    if (globals.verbose) events.subscribe(requestPrinter(messages, deliveryRedactor(this.#verifier)));
    events.subscribe((event) => this.#stdout.write(this.#printer.delivery(event)));
  }

  listening(listening: Listening): Promise<void> | void {
    return this.#stdout.write(this.#printer.listening(listening));
  }

  /** A round of `--backfill` that found something or failed. */
  async backfill(round: BackfillRound): Promise<void> {
    if (this.#backfills.say(round)) await this.#stdout.write(this.#printer.backfill(round));
  }

  /** Resolves when everything has left, or the reader was given up. */
  async summary(): Promise<void> {
    const { clock, messages } = this.#context;
    const durationMs = clock.now() - this.#started;
    await this.#stdout.write(this.#printer.summary(this.#tally, durationMs));
    await this.#stdout.drained();
    messages.say(summaryLine(this.#tally, durationMs));
  }
}
