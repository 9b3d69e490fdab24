import { writeFileSync } from 'node:fs';
import { SimProcess } from '../kernel/process.ts';
import { type Random, randomOf } from '../kernel/random.ts';
import type { ActorOptions } from './actor-options.ts';
import { inboxPath, readInbox } from './inbox-file.ts';
import type { OperatorAction } from './plan.ts';
import { portOf } from './receivers.ts';
import { sendWaits } from './sends.ts';
import { token } from './senders.ts';
import { apiKey } from './service.ts';
import type { TrueLead } from './truth.ts';

export const servicePort = 9000;

export const exportPath = '/sim/export.ndjson';
export const bookmarkedPath = '/sim/bookmarked.ndjson';
export const bookmarkPath = '/sim/bookmark.json';

/** The leads that `leads send` is given, a line each. */
const leadsPath = '/sim/to-send.ndjson';

/** A command that the operator ran. */
export interface Run {
  readonly action: OperatorAction;
  readonly argv: readonly string[];
  /** When it began; of a resumed export, when the first of its runs began. */
  readonly startedAt: number;
  /** Of the lead that it erases. */
  readonly erases: string | undefined;
  /** The leads that it delivers, by id: what is sent of each, where that is what a file holds. */
  readonly sends: ReadonlyMap<string, string | undefined>;
  readonly process: SimProcess;
  /** What the inbox held when an audit began. */
  readonly storedBefore: ReadonlySet<string>;
  /** By how much its clock was off when it began. */
  readonly clockErrorMs: number;
}

export interface OperatorOptions extends ActorOptions {
  /** `code` is undefined where the run was killed. */
  readonly onEnd: (run: Run, code: number | undefined) => void;
  /** Makes leads that nobody has delivered. */
  readonly newLeads: (random: Random) => readonly TrueLead[];
}

/** Runs commands, never two of one kind at a time. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly running = new Map<OperatorAction, Run>();
  /** When an export began that has not ended in order: the next one with the same output resumes it. */
  readonly #unfinishedSince = new Map<OperatorAction, number>();

  /** Of its own, so that what the operator does besides stays what it was. */
  readonly #sending: Random;

  constructor(options: OperatorOptions) {
    this.#options = options;
    this.#sending = randomOf(options.plan.seed, 'sending');
  }

  /** Undefined where it would make no sense, or still runs. */
  run(action: OperatorAction): Run | undefined {
    const { plan, machine, clockError, nextPid, onOutput, onEnd } = this.#options;
    if (this.running.has(action)) return undefined;
    const erases = action === 'erase' ? this.#leadToErase() : undefined;
    if (action === 'erase' && erases === undefined) return undefined;
    const sends = this.#leadsToSend(action);
    if (action === 'resend' && sends.size === 0) return undefined;
    const argv = this.#argv(action, erases, [...sends.keys()]);
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
    const clockErrorMs = clockError(now);
    const run: Run = { action, argv, startedAt, erases, sends, process, storedBefore, clockErrorMs };
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

  /** Of new leads the very bytes; of leads that a receiver has, what the service or the inbox gives. */
  #leadsToSend(action: OperatorAction): ReadonlyMap<string, string | undefined> {
    const { truth, machine, newLeads } = this.#options;
    const random = this.#sending;
    if (action === 'send') {
      const leads = newLeads(random);
      const lines = leads.map(({ body }) => `${body}\n`);
      writeFileSync(machine.disk.real(leadsPath), lines.join(''));
      return new Map(leads.map(({ id, body }) => [id, body]));
    }
    if (action !== 'resend') return new Map();
    const known = [...truth.acknowledged.keys()].filter(
      (id) => !truth.erased.has(id) && truth.leads.get(id)?.deletedAt === undefined,
    );
    const count = Math.min(known.length, random.between(1, 4));
    const ids = Array.from({ length: count }, () => random.pick(known));
    for (const id of ids) truth.relayed.add(id);
    return new Map(ids.map((id) => [id, undefined]));
  }

  #argv(action: OperatorAction, erases: string | undefined, sends: readonly string[]): readonly string[] {
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
      case 'send':
        return this.#send('--lead', leadsPath);
      case 'resend':
        return this.#send(...sends.flatMap((id) => ['--id', id]), ...inbox);
    }
  }

  #send(...what: readonly string[]): readonly string[] {
    const receiver = this.#sending.between(0, this.#options.plan.receivers - 1);
    const url = `http://127.0.0.1:${portOf(receiver)}/leads`;
    return ['send', url, ...what, '--token', token, '--concurrency', '3', '--retry', sendWaits, '--json'];
  }
}
