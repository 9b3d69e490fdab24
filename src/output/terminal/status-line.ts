import type { Clock } from '../../time/clock.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { sanitize } from './terminal.ts';
import { truncate } from '../table.ts';

/** Often enough that a line changes well within a second. */
const redrawMs = 200;

interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
}

/** Calls `step` again and again until the returned function is called. */
type Repeat = (ms: number, step: () => void) => () => void;

const repeatUnreferenced: Repeat = (ms, step) => {
  const timer = setInterval(step, ms);
  timer.unref();
  return () => clearInterval(timer);
};

/** The last line of a terminal: what the run does and what it waits for, drawn again while anything of it changes. */
export class StatusLine {
  readonly #stderr: Terminal;
  readonly #clock: Clock;
  readonly #repeat: Repeat;
  #activity: Activity = { progress: undefined, waits: [], asking: 0, heardAt: 0 };
  #stop: (() => void) | undefined;
  #shown = '';
  /** Another text is being written to the same line, such as a question. */
  #isLineTaken = false;

  constructor(stderr: Terminal, clock: Clock, repeat: Repeat = repeatUnreferenced) {
    this.#stderr = stderr;
    this.#clock = clock;
    this.#repeat = repeat;
  }

  /** What is at the beginning of the line, for a time in ms; undefined: nothing any more. */
  showProgress(progress: ((now: number) => string) | undefined): void {
    this.#change({ progress });
  }

  /** A wait begins that is known to take `ms`; it has ended when the returned function is called. */
  waiting(ms: number, why: string): () => void {
    const wait = { until: this.#clock.now() + ms, why };
    this.#change({ waits: [...this.#activity.waits, wait] });
    return () => this.#change({ waits: this.#activity.waits.filter((other) => other !== wait) });
  }

  /** An answer is awaited until the returned function is called. */
  asking(): () => void {
    const add = (count: number): void =>
      this.#change({ asking: this.#activity.asking + count, heardAt: this.#clock.now() });
    add(1);
    let isOver = false;
    return () => {
      if (!isOver) add(-1);
      isOver = true;
    };
  }

  /** The same stream, for everybody else who writes to this terminal: the line is erased before. */
  sharedWith<S extends Pick<Terminal, 'write'>>(stream: S): S {
    const write = (...args: [text: string]): unknown => {
      this.#erase();
      this.#isLineTaken = !endsLine(args[0]);
      return stream.write(...args);
    };
    return new Proxy(stream, {
      get(target, key) {
        if (key === 'write') return write;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  close(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#erase();
  }

  #change(change: Partial<Activity>): void {
    this.#activity = { ...this.#activity, ...change };
    const { progress, waits, asking } = this.#activity;
    if (progress === undefined && waits.length === 0 && asking === 0) this.close();
    else this.#stop ??= this.#repeat(redrawMs, () => this.#draw());
  }

  #draw(): void {
    if (this.#isLineTaken) return;
    const text = sanitize(activityLine(this.#activity, this.#clock.now()));
    // A terminal that was given no size says that it has 0 columns.
    const { columns = 0 } = this.#stderr;
    const line = truncate(text, (columns > 0 ? columns : 80) - 1);
    if (line === this.#shown) return;
    this.#shown = line;
    this.#stderr.write(`\r\u001b[K${line}`);
  }

  #erase(): void {
    if (this.#shown !== '') this.#stderr.write('\r\u001b[K');
    this.#shown = '';
  }
}

const newline = 0x0a;

function endsLine(chunk: string | Uint8Array): boolean {
  if (typeof chunk === 'string') return chunk === '' || chunk.endsWith('\n');
  return chunk.length === 0 || chunk.at(-1) === newline;
}

/** What a run does at the moment. */
interface Activity {
  /** What it has done so far, for a time in ms. */
  readonly progress: ((now: number) => string) | undefined;
  /** Until when it waits, in ms, and why. */
  readonly waits: readonly { readonly until: number; readonly why: string }[];
  /** Answers that are awaited. */
  readonly asking: number;
  /** When the last request was sent or the last bytes came; ms. */
  readonly heardAt: number;
}

/** A shorter silence of the service is not shown; ms. */
const silenceMs = 1000;

/** One line without an end, empty when there is nothing to say; `now` in ms. */
export function activityLine({ progress, waits, asking, heardAt }: Activity, now: number): string {
  const parts = progress === undefined ? [] : [progress(now)];
  const wait = [...waits].sort((a, b) => b.until - a.until)[0];
  if (wait !== undefined) parts.push(`waiting ${formatSeconds(Math.max(0, wait.until - now))}: ${wait.why}`);
  else if (asking > 0 && now - heardAt >= silenceMs) parts.push(`asking … ${formatSeconds(now - heardAt)}`);
  return parts.join(', ');
}
