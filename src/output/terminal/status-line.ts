import type { Clock } from '../../time/clock.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { sanitize } from './terminal.ts';
import { truncate } from '../text-width.ts';

const redrawMs = 200;

interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
}

/**
 * The last line of a terminal, which shows what a run is doing. It is redrawn at an interval as long as there is something to
 * show. Every other writer to this terminal writes to a stream of `sharedWith`, which erases the line before.
 */
export class StatusLine {
  readonly #stderr: Terminal;
  readonly #clock: Clock;
  #activity: Activity = { progress: undefined, waits: [], openRequests: 0, lastHeardAt: 0 };
  #redrawing: NodeJS.Timeout | undefined;
  #drawnText = '';
  /** Another writer has written a part of a line, such as a question, so there is no room for this one. */
  #isLineTaken = false;

  constructor(stderr: Terminal, clock: Clock) {
    this.#stderr = stderr;
    this.#clock = clock;
  }

  /** Sets the start of the line, for a time in milliseconds; undefined removes it. */
  showProgress(progress: ((now: number) => string) | undefined): void {
    this.#change({ progress });
  }

  /** Shows a wait, counted down, until the returned function is called. */
  addWait(ms: number, reason: string): () => void {
    const wait = { until: this.#clock.now() + ms, reason };
    this.#change({ waits: [...this.#activity.waits, wait] });
    return () => this.#change({ waits: this.#activity.waits.filter((candidate) => candidate !== wait) });
  }

  /** Shows, once it takes long, that a request has no answer, until the returned function is called. */
  addRequest(): () => void {
    const count = (added: 1 | -1): void =>
      this.#change({ openRequests: this.#activity.openRequests + added, lastHeardAt: this.#clock.now() });
    count(1);
    let isOver = false;
    return () => {
      if (!isOver) count(-1);
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
    clearInterval(this.#redrawing);
    this.#redrawing = undefined;
    this.#erase();
  }

  #change(change: Partial<Activity>): void {
    this.#activity = { ...this.#activity, ...change };
    const { progress, waits, openRequests } = this.#activity;
    if (progress === undefined && waits.length === 0 && openRequests === 0) this.close();
    else this.#redrawing ??= setInterval(() => this.#draw(), redrawMs).unref();
  }

  #draw(): void {
    if (this.#isLineTaken) return;
    const text = sanitize(activityLine(this.#activity, this.#clock.now()));
    // A terminal of unknown size says that it has 0 columns.
    const { columns = 0 } = this.#stderr;
    // In the last column, some terminals already go to the next line.
    const line = truncate(text, (columns > 0 ? columns : 80) - 1);
    if (line === this.#drawnText) return;
    this.#drawnText = line;
    this.#stderr.write(eraseLine + line);
  }

  #erase(): void {
    if (this.#drawnText !== '') this.#stderr.write(eraseLine);
    this.#drawnText = '';
  }
}

/** Moves the cursor to the start of its line, and erases the line. */
const eraseLine = '\r\u001b[K';

const newline = 0x0a;

function endsLine(chunk: string | Uint8Array): boolean {
  if (typeof chunk === 'string') return chunk === '' || chunk.endsWith('\n');
  return chunk.length === 0 || chunk.at(-1) === newline;
}

interface Activity {
  readonly progress: ((now: number) => string) | undefined;
  readonly waits: readonly { readonly until: number; readonly reason: string }[];
  readonly openRequests: number;
  /** The time in milliseconds of the last request or the last received bytes. */
  readonly lastHeardAt: number;
}

/** A shorter silence of the service is usual, and is not shown. */
const shownSilenceMs = 1000;

/** Returns a line without its end, or an empty text. Of several waits it shows the one that ends last. */
export function activityLine({ progress, waits, openRequests, lastHeardAt }: Activity, now: number): string {
  const parts = progress === undefined ? [] : [progress(now)];
  const [longest] = [...waits].sort((a, b) => b.until - a.until);
  const silence = now - lastHeardAt;
  if (longest !== undefined) {
    parts.push(`waiting ${formatSeconds(Math.max(0, longest.until - now))}: ${longest.reason}`);
  } else if (openRequests > 0 && silence >= shownSilenceMs) {
    parts.push(`asking … ${formatSeconds(silence)}`);
  }
  return parts.join(', ');
}
