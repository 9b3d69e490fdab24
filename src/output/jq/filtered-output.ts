import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { Host, Output } from '../../host.ts';
import type { Messages } from '../messages.ts';
import { DataError, OutputError } from '../../errors.ts';
import type { OutputProblem } from '../problems.ts';
import {
  backslash,
  closeBrace,
  closeBracket,
  isSpace,
  openBrace,
  openBracket,
  quote,
} from '../../json/bytes.ts';
import { write } from '../stdout.ts';
import { checkExpression, JqWorker } from './jq-worker.ts';
import { replaceNumbers } from '../../json/exact.ts';
import { escapeJson, sanitize } from '../terminal/terminal.ts';

/** Documents that jq reads in one run, in bytes: a run costs a millisecond, and memory grows with it. */
const batchBytes = 256 * 1024;

/** Batches that are underway before a writer has to wait: one that jq reads, and the next. */
const mostUnderway = 2;

/** How long a filter may go on after Ctrl-C, in ms. */
const stopGraceMs = 500;

/** Builtins by which a filter sees more than the one document, or ends the run. */
const seesMore = /\b(inputs?|input_line_number|halt|halt_error)\b/;

type FilterContext = Pick<Host, 'stdout' | 'signal'> & { readonly messages: Pick<Messages, 'say' | 'warn'> };

/** Opens stdout behind a filter of jq. Throws a `UsageError` for an expression that does not compile. */
export async function openFilteredOutput(
  expression: string,
  context: FilterContext,
): Promise<FilteredOutput> {
  const worker = new JqWorker();
  const output = new FilteredOutput(worker, expression, context);
  try {
    await checkExpression(worker, expression);
    return output;
  } catch (error) {
    await output.close();
    throw error;
  }
}

/** A stdout that jq reads: each JSON document that is written gives what the filter makes of it. */
export class FilteredOutput extends Writable implements Output {
  readonly isBeforeTerminal: boolean;
  readonly fd: number | undefined;
  readonly #worker: JqWorker;
  readonly #program: string;
  readonly #apart: boolean;
  readonly #errorMember = randomUUID();
  readonly #context: FilterContext;
  readonly #splitter = new DocumentSplitter();
  readonly #onAbort = (): void => this.#stopSoon();
  /** Resolves when everything so far is written. */
  #written: Promise<void> = Promise.resolve();
  #underway = 0;
  #freed: (() => void) | undefined;
  #stopTimer: NodeJS.Timeout | undefined;
  #documents = 0;
  /** Runs of jq that have ended. */
  #runs = 0;
  #errors: string[] = [];
  #isErrorSaid = false;
  /** Why nothing more can be written. */
  #failure: Error | undefined;

  constructor(worker: JqWorker, expression: string, context: FilterContext) {
    super();
    // The writer gets the error through its callback.
    this.on('error', () => undefined);
    this.isBeforeTerminal = context.stdout.isTTY === true;
    this.fd = context.stdout.fd;
    this.#worker = worker;
    this.#apart = seesMore.test(expression);
    this.#program = `try (\n${expression}\n) catch {"${this.#errorMember}": .}`;
    this.#context = context;
    if (context.signal.aborted) this.#stopSoon();
    else context.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  override _write(chunk: Uint8Array | string, _encoding: string, done: (error?: Error) => void): void {
    const documents = this.#splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    this.#take(documents).then(() => done(), done);
  }

  /** Waits for what was written, all of it whole. Throws a `DataError` when the filter failed on a document. */
  async finish(): Promise<void> {
    const rest = this.#splitter.end();
    if (rest !== undefined) await this.#take([rest]);
    await this.drain();
    const [why, ...others] = this.#errors;
    if (why === undefined) return;
    const failed = { kind: 'jq-failed', why, others: others.length, documents: this.#documents } as const;
    throw new DataError(failed satisfies OutputProblem);
  }

  /** Waits for the documents that were written whole. */
  async drain(): Promise<void> {
    await this.#written;
    this.#rejectFailed();
  }

  async close(): Promise<void> {
    clearTimeout(this.#stopTimer);
    this.#context.signal.removeEventListener('abort', this.#onAbort);
    await this.#worker.stop(new Error('jq was closed'));
  }

  async #take(documents: readonly Buffer[]): Promise<void> {
    let batch: Buffer[] = [];
    let size = 0;
    for (const document of documents) {
      if (size + document.length > batchBytes && batch.length > 0) {
        await this.#start(batch);
        batch = [];
        size = 0;
      }
      batch.push(document);
      size += document.length;
    }
    if (batch.length > 0) await this.#start(batch);
  }

  /** Resolves when another batch may come. */
  async #start(documents: readonly Buffer[]): Promise<void> {
    this.#rejectFailed();
    this.#sayError();
    this.#documents += documents.length;
    this.#underway += 1;
    const result = this.#run(documents);
    // It is awaited in its turn.
    result.catch(() => undefined);
    this.#written = this.#written
      .then(() => result)
      .then((text) => (text === '' ? undefined : write(this.#context.stdout, text)))
      .catch((error: unknown) => void (this.#failure ??= error as Error))
      .finally(() => {
        this.#underway -= 1;
        this.#freed?.();
      });
    while (this.#underway >= mostUnderway) await new Promise<void>((resolve) => (this.#freed = resolve));
    this.#rejectFailed();
  }

  async #run(documents: readonly Buffer[]): Promise<string> {
    // White space between them: two numbers would be one.
    const bytes = Buffer.concat(documents.flatMap((document) => [document, newline]));
    let end = 0;
    const ends = documents.map(({ length }) => (end += length + 1));
    const { out, notes, failures } = await this.#worker.ask({
      kind: 'run',
      program: this.#program,
      bytes,
      ends,
      apart: this.#apart,
    });
    this.#runs += 1;
    for (const note of notes) this.#context.messages.say(`jq: ${note}`);
    const rendered = renderValues(out, {
      errorMember: this.#errorMember,
      input: () => bytes.toString('utf8'),
      isTerminal: this.#context.stdout.isTTY === true,
      onError: (text) => this.#errors.push(text),
    });
    this.#errors.push(...failures.map(reasonOf));
    if (this.#underway > 1) this.#sayError();
    return rendered;
  }

  #rejectFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** A run that goes on after an error says it once, and not only at its end. */
  #sayError(): void {
    const [first] = this.#errors;
    if (first === undefined || this.#isErrorSaid) return;
    this.#isErrorSaid = true;
    this.#context.messages.warn(`jq: ${first}`);
  }

  /** A filter may end the run that it does, and do others of what still comes; a run that never ends is stopped. */
  #stopSoon(): void {
    const runs = this.#runs;
    this.#stopTimer = setTimeout(() => {
      if (!this.#worker.isBusy || this.#runs !== runs) this.#stopSoon();
      else void this.#worker.stop(this.#context.signal.reason as Error);
    }, stopGraceMs);
    this.#stopTimer.unref();
  }
}

/** Without the words by which jq begins its messages. */
const reasonOf = (stderr: string): string =>
  stderr
    .replace(/^jq: (error \(at [^)]*\): )?/, '')
    .replace(/^parse error: /, 'what the filter is to read is not JSON: ');

const newline = Buffer.from('\n');

/** Runs a command whose stdout jq reads. The expression is checked before anything else is done. */
export async function runFiltered<C extends FilterContext, T>(
  expression: string,
  context: C,
  run: (context: C) => Promise<T>,
): Promise<T> {
  const output = await openFilteredOutput(expression, context);
  // Getters stay getters: a command that never reads stdin must not open it.
  const descriptors = Object.getOwnPropertyDescriptors(context);
  const filtered = Object.defineProperties({}, { ...descriptors, stdout: { value: output } }) as C;
  try {
    const outcome = await run(filtered);
    await output.finish();
    return outcome;
  } catch (error) {
    // What was written whole before it is shown as well, unless stdout takes no more.
    if (!(error instanceof OutputError)) await output.drain();
    throw error;
  } finally {
    await output.close();
  }
}

/**
 * Takes JSON values apart that stand one behind the other, while they arrive in chunks of any size. What is no JSON comes
 * out as some value, for its reader to reject.
 */
class DocumentSplitter {
  #held: Uint8Array[] = [];
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** A number or a word at the top ends only where something else begins. */
  #inWord = false;

  /** The values that end in this chunk; copies, since a chunk's memory may be used again. */
  push(chunk: Uint8Array): Buffer[] {
    const documents: Buffer[] = [];
    let start = 0;
    const take = (end: number): void => {
      documents.push(Buffer.concat([...this.#held, chunk.subarray(start, end)]));
      this.#held = [];
      start = end;
    };
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] as number;
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) {
          this.#inString = false;
          if (this.#depth === 0) take(i + 1);
        }
        continue;
      }
      const opens = byte === openBrace || byte === openBracket;
      if (this.#inWord && (isSpace(byte) || opens || byte === quote)) {
        this.#inWord = false;
        take(i);
      }
      if (byte === quote) this.#inString = true;
      else if (opens) this.#depth += 1;
      else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#depth <= 0) {
          this.#depth = 0;
          take(i + 1);
        }
      } else if (this.#depth === 0) {
        if (isSpace(byte)) start = this.#held.length === 0 ? i + 1 : start;
        else this.#inWord = true;
      }
    }
    if (start < chunk.length) this.#held.push(Buffer.from(chunk.subarray(start)));
    return documents;
  }

  /** What is left at the end: a number, or a value that breaks off. */
  end(): Buffer | undefined {
    const rest = Buffer.concat(this.#held.splice(0));
    return rest.every((byte) => isSpace(byte)) ? undefined : rest;
  }
}

interface Rendering {
  /** Begins each line that is an error which the filter met, as an object with this one member. */
  readonly errorMember: string;
  /** The documents that were read. */
  readonly input: () => string;
  readonly isTerminal: boolean;
  readonly onError: (text: string) => void;
}

/** What jq printed, a JSON value a line, as it is shown: texts as they are, everything else as compact JSON. */
export function renderValues(out: string, { errorMember, input, isTerminal, onError }: Rendering): string {
  const errorStart = `{"${errorMember}":`;
  // Most filters give whole objects, or numbers.
  if (!isTerminal && !/^"/m.test(out) && !out.includes(errorStart) && !/\dE[+-]?\d/.test(out)) return out;
  const lines: string[] = [];
  for (const line of out.split('\n')) {
    if (line === '') continue;
    if (line.startsWith(errorStart)) {
      onError(errorText(line.slice(errorStart.length, -1)));
    } else if (line.startsWith('"')) {
      const text = JSON.parse(line) as string;
      lines.push(isTerminal ? text.split('\n').map(sanitize).join('\n') : text);
    } else {
      const json = withOwnNumbers(line, input);
      lines.push(isTerminal ? escapeJson(json) : json);
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** An error is a text, as a rule. */
function errorText(json: string): string {
  const value = JSON.parse(json) as unknown;
  return typeof value === 'string' ? value : `error (not a text): ${json}`;
}

/**
 * jq keeps all digits of a number that a filter only moves, and writes some with an exponent of its own: `1e400` becomes
 * `1E+400`. Gives such numbers of `line` the form that they have in `input`. What jq computes has no capital `E`.
 */
function withOwnNumbers(line: string, input: () => string): string {
  if (!/\dE[+-]?\d/.test(line)) return line;
  const forms = new Map<string, string>();
  replaceNumbers(input(), (token) => {
    const written = asWrittenByJq(token);
    const other = forms.get(written);
    forms.set(written, other === undefined || other === token ? token : written);
    return token;
  });
  return replaceNumbers(line, (token) => (token.includes('E') ? (forms.get(token) ?? token) : token));
}

/** The scientific string of the General Decimal Arithmetic Specification, which jq's numbers follow. */
function asWrittenByJq(token: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  if (whole === '') return token;
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '');
  const exponent = Number(power) - fraction.length;
  const adjusted = exponent + digits.length - 1;
  // Anything else is written without an exponent.
  if (exponent <= 0 && adjusted >= -6) return token;
  const rest = digits.length === 1 ? '' : `.${digits.slice(1)}`;
  return `${sign}${digits.charAt(0)}${rest}E${adjusted < 0 ? '-' : '+'}${Math.abs(adjusted)}`;
}
