import { Worker } from 'node:worker_threads';
import { UsageError } from '../../errors.ts';
import { type JqAnswer, jqProgram, type JqRequest } from './jq-program.ts';
import { jqPackage } from './jq-package.ts';

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
  throw new UsageError(`--jq: ${reasonOf(text)}`, {
    hint: "the language is jq's; quote the expression with '…' for the shell",
  });
}

/** jq shows the program with its messages, which begins with words of ours. */
function reasonOf(stderr: string): string {
  const [, reason = stderr.split('\n')[0] ?? '', line] =
    /^jq: error: (.*?)(?: at <top-level>, line (\d+):)?$/m.exec(stderr) ?? [];
  const text = reason.replace(' (Unix shell quoting issues?)', '');
  return line === undefined || line === '1' ? text : `${text} (line ${line})`;
}
