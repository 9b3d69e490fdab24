import type { Context } from '../../context.ts';
import type { Messages } from '../../output/messages.ts';
import type { StdoutWriter } from '../../output/stdout.ts';
import type { BackfillRound } from '../../receiver/backfill.ts';
import { deliveryRedactor } from '../../receiver/inbox-requirements.ts';
import type { AnsweredDelivery, Subscribable } from '../../receiver/receiver-events.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import type { ListenOptions } from './options.ts';
import {
  BackfillMessages,
  choosePrinter,
  count,
  emptyTally,
  type Listening,
  type Printer,
  summaryLine,
} from './printers.ts';

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

/** Of a request's body, in bytes. */
const shownBody = 4096;

/** `--verbose`: each request on stderr, its headers and the start of its body, without credentials. */
function requestPrinter(
  messages: Pick<Messages, 'verbose'>,
  redactor: ReturnType<typeof deliveryRedactor>,
): (event: AnsweredDelivery) => void {
  return ({ delivery, method, path, position }) => {
    if (position !== undefined && position.number > 1) return;
    const { body } = delivery;
    messages.verbose(`${method} ${path}`);
    for (const [name, value] of redactor.headers(delivery)) messages.verbose(`  ${name}: ${value}`);
    const text = Buffer.from(body.subarray(0, shownBody)).toString('utf8');
    messages.verbose(`  ${text}${body.length > shownBody ? ` … (${body.length} bytes)` : ''}`);
  };
}
