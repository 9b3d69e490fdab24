import { SimProcess } from '../kernel/process.ts';
import type { ActorOptions } from './actor-options.ts';
import { inboxPath, readInbox } from './inbox-file.ts';
import type { OperatorAction } from './plan.ts';
import { apiKey } from './service.ts';

export const servicePort = 9000;

export const exportPath = '/sim/export.ndjson';
export const bookmarkedPath = '/sim/bookmarked.ndjson';
export const bookmarkPath = '/sim/bookmark.json';

/** A command that the operator ran. */
export interface Run {
  readonly action: OperatorAction;
  readonly argv: readonly string[];
  /** When it began; of a resumed export, when the first of its runs began. */
  readonly startedAt: number;
  /** Of the lead that it erases. */
  readonly erases: string | undefined;
  readonly process: SimProcess;
  /** What the inbox held when an audit began. */
  readonly storedBefore: ReadonlySet<string>;
  /** By how much its clock was off when it began. */
  readonly clockErrorMs: number;
}

export interface OperatorOptions extends ActorOptions {
  /** `code` is undefined where the run was killed. */
  readonly onEnd: (run: Run, code: number | undefined) => void;
}

/** Runs commands, never two of one kind at a time. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly running = new Map<OperatorAction, Run>();
  /** When an export began that has not ended in order: the next one with the same output resumes it. */
  readonly #unfinishedSince = new Map<OperatorAction, number>();

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  /** Undefined where it would make no sense, or still runs. */
  run(action: OperatorAction): Run | undefined {
    const { plan, machine, clockError, nextPid, onOutput, onEnd } = this.#options;
    if (this.running.has(action)) return undefined;
    const erases = action === 'erase' ? this.#leadToErase() : undefined;
    if (action === 'erase' && erases === undefined) return undefined;
    const argv = this.#argv(action, erases);
    const { now } = machine.scheduler;
    const process: SimProcess = new SimProcess(machine, {
      name: action,
      argv,
      env: {
        HOME: '/sim/home',
        NO_COLOR: '1',
        LEADS_API_KEY: apiKey,
        LEADS_BASE_URL: `http://127.0.0.1:${servicePort}`,
      },
      pid: nextPid(),
      seed: plan.seed,
      clockError,
      onOutput: (_, text) => onOutput(process, text),
    });
    const isExport = action === 'export' || action === 'bookmark';
    const startedAt = this.#unfinishedSince.get(action) ?? now;
    if (isExport) this.#unfinishedSince.set(action, startedAt);
    const compares = action === 'audit' || action === 'repair';
    const storedBefore = compares ? readInbox(machine.disk).ids : new Set<string>();
    const clockErrorMs = clockError();
    const run: Run = { action, argv, startedAt, erases, process, storedBefore, clockErrorMs };
    this.running.set(action, run);
    process.start();
    void process.ended.then((code) => {
      this.running.delete(action);
      if (code === 0) this.#unfinishedSince.delete(action);
      onEnd(run, code);
    });
    return run;
  }

  #leadToErase(): string | undefined {
    const { truth, random } = this.#options;
    const known = [...truth.acknowledged.keys()].filter((id) => !truth.erased.has(id));
    return known.length === 0 ? undefined : random.pick(known);
  }

  #argv(action: OperatorAction, erases: string | undefined): readonly string[] {
    const inbox = ['--inbox', inboxPath];
    switch (action) {
      case 'export':
        return ['export', '-q', '-o', exportPath, ...(this.#unfinishedSince.has(action) ? ['--resume'] : [])];
      case 'bookmark':
        return ['export', '-q', '-o', bookmarkedPath, '--bookmark', bookmarkPath];
      case 'audit':
        return ['audit', ...inbox, '--json', '--since', '30d', '--settle', '5m', '--limit', 'all'];
      case 'repair':
        return ['audit', ...inbox, '--json', '--since', '30d', '--settle', '5m', '--take-in'];
      case 'retry':
        return ['inbox', 'retry', '--pending', ...inbox];
      case 'erase':
        return ['inbox', 'erase', '--id', erases ?? '', '--yes', ...inbox];
      case 'prune':
        return ['inbox', 'prune', '--before', '20m', ...inbox];
      case 'stats':
        return ['stats', ...inbox, '--json'];
    }
  }
}
