import { createRequire } from 'node:module';
import type * as Vm from 'node:vm';
import { Worker } from 'node:worker_threads';
import { UsageError } from '../../errors.ts';
import type { OutputProblem } from '../problems.ts';
import { packageError } from '../../files/optional-package.ts';
import { assetBytes, assetText } from '../../files/embedded/asset.ts';

interface Pending {
  readonly resolve: (answer: JqAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** jq in a thread of its own: an expression that does not end can be stopped. */
export class JqWorker {
  readonly #worker: Worker;
  readonly #pending: Pending[] = [];
  #ended: Error | undefined;

  constructor() {
    const { load, workerData } = jqPackage();
    this.#worker = new Worker(`(${jqProgram.toString()})(${load})`, {
      eval: true,
      workerData,
      env: {},
      // Of the process's own flags some are not allowed for a thread.
      execArgv: [],
    });
    this.#worker.on('message', (answer: JqAnswer) => this.#pending.shift()?.resolve(answer));
    this.#worker.on('error', (error: Error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('jq ended')));
  }

  /** Whether it is at work. */
  get isBusy(): boolean {
    return this.#pending.length > 0;
  }

  ask(request: JqRequest): Promise<JqAnswer> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  /** Ends it, also in the middle of its work, which then fails with `reason`. */
  async stop(reason: Error): Promise<void> {
    this.#end(reason);
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.splice(0)) reject(this.#ended);
  }
}

/** Throws a `UsageError` for an expression that jq does not understand; nothing of it is run. */
export async function checkExpression(worker: JqWorker, expression: string): Promise<void> {
  const { failures } = await worker.ask({ kind: 'compile', program: `empty | ${expression}` });
  const [text] = failures;
  if (text === undefined) return;
  throw new UsageError({ kind: 'jq-expression', why: reasonOf(text) } satisfies OutputProblem);
}

/** jq shows the program with its messages, which begins with words of ours. */
function reasonOf(stderr: string): string {
  const [, reason = stderr.split('\n')[0] ?? '', line] =
    /^jq: error: (.*?)(?: at <top-level>, line (\d+):)?$/m.exec(stderr) ?? [];
  const text = reason.replace(' (Unix shell quoting issues?)', '');
  return line === undefined || line === '1' ? text : `${text} (line ${line})`;
}

/** What the worker is asked, and answers, one message after the other. */
type JqRequest =
  | { readonly kind: 'compile'; readonly program: string }
  /** `ends`: where each document of `bytes` ends; `apart`: each is a run of its own. */
  | {
      readonly kind: 'run';
      readonly program: string;
      readonly bytes: Uint8Array;
      readonly ends: readonly number[];
      readonly apart: boolean;
    };

interface JqAnswer {
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
function jqProgram(load: (id: unknown) => unknown): void {
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

interface JqPackage {
  /** A function as source text that, in the worker, loads builtins, and jq-web by `workerData`. */
  readonly load: string;
  readonly workerData: unknown;
}

interface JqAssets {
  readonly source: string;
  readonly wasm: Uint8Array;
}

/** jq-web as npm installed it, or as the executable file contains it. */
function jqPackage(): JqPackage {
  if (!LEADS_SINGLE_FILE) {
    try {
      return { load: 'require', workerData: createRequire(import.meta.url).resolve('jq-web') };
    } catch (error) {
      throw packageError('jq-web', error);
    }
  }
  const workerData: JqAssets = { source: assetText('jq.js'), wasm: assetBytes('jq.wasm') };
  return { load: `(${loadFromAssets.toString()})(require)`, workerData };
}

/** Runs in the worker, so it uses nothing from outside of itself. jq-web reads a file once: its WebAssembly. */
function loadFromAssets(require: (id: string) => unknown): (id: string | JqAssets) => unknown {
  return (id) => {
    if (typeof id === 'string') return require(id);
    const fs = { ...(require('node:fs') as object), readFileSync: () => id.wasm };
    const { compileFunction } = require('node:vm') as typeof Vm;
    const module = { exports: {} };
    const run = compileFunction(id.source, ['module', 'exports', 'require', '__dirname']) as (
      ...values: readonly unknown[]
    ) => void;
    run(module, module.exports, (name: string) => (name === 'fs' ? fs : require(name)), '');
    return module.exports;
  };
}
