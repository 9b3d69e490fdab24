/** What the worker is asked, and answers, one message after the other. */
export type JqRequest =
  | { readonly kind: 'compile'; readonly program: string }
  /** `ends`: where each document of `bytes` ends; `apart`: each is a run of its own. */
  | {
      readonly kind: 'run';
      readonly program: string;
      readonly bytes: Uint8Array;
      readonly ends: readonly number[];
      readonly apart: boolean;
    };

export interface JqAnswer {
  /** What jq printed: a value a line. */
  readonly out: string;
  /** What it printed for people, by `debug` and `stderr`. */
  readonly notes: readonly string[];
  /** Why it ended early: a program that does not compile, a document that is not JSON, `halt_error`. */
  readonly failures: readonly string[];
}

interface JqModule {
  readonly raw: (input: Uint8Array, program: string, flags: string[]) => string | undefined;
}

interface Port {
  on(event: 'message', listener: (request: JqRequest) => void): void;
  postMessage(answer: JqAnswer): void;
}

/**
 * The whole program of the worker: its source text is run there, since a worker cannot load TypeScript on every node. It
 * uses nothing from outside of itself.
 */
export function jqProgram(load: (id: unknown) => unknown): void {
  const { parentPort, workerData } = load('node:worker_threads') as { parentPort: Port; workerData: unknown };
  const jq = load(workerData) as Promise<JqModule>;
  let notes: string[] = [];
  // What jq writes to stderr without failing comes this way, behind four arguments of style.
  // eslint-disable-next-line no-console -- the worker's own
  console.warn = (...args: unknown[]) => void notes.push(String(args[4] ?? args[0]));
  const run = (
    { raw }: JqModule,
    input: Uint8Array,
    program: string,
    flags: string[],
    failures: string[],
  ): string => {
    try {
      // The line break behind the last value is missing.
      const text = raw(input, program, flags) ?? '';
      return text === '' || text.endsWith('\n') ? text : `${text}\n`;
    } catch (error) {
      const { stderr, message } = error as { stderr?: string; message: string };
      failures.push(typeof stderr === 'string' && stderr !== '' ? stderr : message);
      return '';
    }
  };
  const answer = (module: JqModule, request: JqRequest): JqAnswer => {
    const failures: string[] = [];
    notes = [];
    if (request.kind === 'compile') {
      run(module, new Uint8Array(), request.program, ['-n', '-c'], failures);
      return { out: '', notes, failures };
    }
    const { bytes, ends, program } = request;
    if (!request.apart || ends.length === 1) {
      const out = run(module, bytes, program, ['-c'], failures);
      if (failures.length === 0 || ends.length === 1) return { out, notes, failures };
    }
    // One document that breaks off ends the whole run, so each gets one of its own.
    failures.length = 0;
    let out = '';
    let start = 0;
    for (const end of ends) {
      out += run(module, bytes.subarray(start, end), program, ['-c'], failures);
      start = end;
    }
    return { out, notes, failures };
  };
  parentPort.on(
    'message',
    (request) => void jq.then((module) => parentPort.postMessage(answer(module, request))),
  );
}
