import type { Context } from '../../../context.ts';
import type { RedactDelivery } from '../../../inbox/inbox-options.ts';
import type { Delivery } from '../../../webhook/delivery.ts';
import type { StdoutWriter } from '../stdout-writer.ts';
import type { Listening, Printer, DeliveryReport } from '../../../receiver/events.ts';
import { count, emptyTally, summaryLine } from './tally.ts';

interface ShowOptions {
  readonly printer: Printer;
  readonly outlet: StdoutWriter;
  readonly context: Pick<Context, 'clock' | 'messages' | 'globals'>;
  readonly conceal: RedactDelivery;
  readonly onAccepted: () => void;
}

/** Of a body that is shown to the person debugging, in bytes. */
const shownBody = 4096;

/** Tells what happens: data to stdout, the rest to stderr, and counts it. */
export class Show {
  readonly #options: ShowOptions;
  readonly #tally = emptyTally();
  readonly #started: number;

  constructor(options: ShowOptions) {
    this.#options = options;
    this.#started = options.context.clock.now();
  }

  listening(listening: Listening): Promise<void> | void {
    const { outlet, printer } = this.#options;
    return outlet.write(printer.listening(listening));
  }

  delivery(report: DeliveryReport, delivery: Delivery): Promise<void> | void {
    const { outlet, printer, context, conceal, onAccepted } = this.#options;
    const path = conceal.path(delivery);
    count(this.#tally, report);
    if (context.globals.verbose) this.#verbose(delivery, path, conceal.headers(delivery));
    const wait = outlet.write(printer.delivery({ ...report, path }));
    if (report.verdict === 'accepted') onAccepted();
    return wait;
  }

  async summary(): Promise<void> {
    const { outlet, printer, context } = this.#options;
    const durationMs = context.clock.now() - this.#started;
    await outlet.write(printer.summary(this.#tally, durationMs));
    await outlet.drained();
    context.messages.say(summaryLine(this.#tally, durationMs));
  }

  #verbose({ method, body }: Delivery, path: string, headers: Delivery['rawHeaders']): void {
    const { messages } = this.#options.context;
    messages.verbose(`${method} ${path}`);
    for (const [name, value] of headers) messages.verbose(`  ${name}: ${value}`);
    const text = Buffer.from(body.subarray(0, shownBody)).toString('utf8');
    messages.verbose(`  ${text}${body.length > shownBody ? ` … (${body.length} bytes)` : ''}`);
  }
}
