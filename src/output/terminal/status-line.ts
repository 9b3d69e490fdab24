import type { Clock } from '../../time/clock.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { sanitize } from './terminal.ts';
import { truncate } from '../text-width.ts';

/** In milliseconds: the line changes well within a second. */
const redrawMs = 200;

interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
}

type Repeat = (ms: number, step: () => void) => () => void;

const repeatUnreferenced: Repeat = (ms, step) => {
  const timer = setInterval(step, ms);
  timer.unref();
  return () => clearInterval(timer);
};

/**
 * The last line of a terminal, which shows the progress and the waits of a run and is redrawn while they
 * change.
 */
export class StatusLine {
  readonly #stderr: Terminal;
  readonly #clock: Clock;
  readonly #repeat: Repeat;
  #activity: Activity = { progress: undefined, waits: [], asking: 0, heardAt: 0 };
  #stop: (() => void) | undefined;
  #shown = '';
  /** Other text, such as a question, is on the same line. */
  #isLineTaken = false;

  constructor(stderr: Terminal, clock: Clock, repeat: Repeat = repeatUnreferenced) {
    this.#stderr = stderr;
    this.#clock = clock;
    this.#repeat = repeat;
  }

  /** Sets the start of the line, for a time in milliseconds; undefined removes it. */
  showProgress(progress: ((now: number) => string) | undefined): void {
    this.#change({ progress });
  }

  waiting(ms: number, why: string): () => void {
    const wait = { until: this.#clock.now() + ms, why };
    this.#change({ waits: [...this.#activity.waits, wait] });
    return () => this.#change({ waits: this.#activity.waits.filter((candidate) => candidate !== wait) });
  }

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

  /** Returns the same stream for other writers to this terminal: it erases the line before. */
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
    // A terminal of unknown size says that it has 0 columns.
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

interface Activity {
  readonly progress: ((now: number) => string) | undefined;
  /** The end of each wait in milliseconds, and its cause. */
  readonly waits: readonly { readonly until: number; readonly why: string }[];
  readonly asking: number;
  /** The time in milliseconds of the last request or the last received bytes. */
  readonly heardAt: number;
}

/** A shorter silence of the service is not shown; in milliseconds. */
const silenceMs = 1000;

/** Returns a line without its end, or an empty text; `now` is in milliseconds. */
export function activityLine({ progress, waits, asking, heardAt }: Activity, now: number): string {
  const parts = progress === undefined ? [] : [progress(now)];
  const wait = [...waits].sort((a, b) => b.until - a.until)[0];
  if (wait !== undefined) parts.push(`waiting ${formatSeconds(Math.max(0, wait.until - now))}: ${wait.why}`);
  else if (asking > 0 && now - heardAt >= silenceMs) parts.push(`asking … ${formatSeconds(now - heardAt)}`);
  return parts.join(', ');
}
