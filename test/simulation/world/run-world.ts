import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import type { Script } from 'node:vm';
import type { CommandCourse, CommandStart, Parent } from '../kernel/commands.ts';
import type { CommitFault, CrashTime, StatementFault } from '../kernel/database.ts';
import { Disk } from '../kernel/disk.ts';
import { type Link, Network, type Owner, serverOn } from '../kernel/network.ts';
import { Machine } from '../kernel/machine.ts';
import type { SimProcess } from '../kernel/process.ts';
import { type Random, randomOf } from '../kernel/random.ts';
import { LivelockError, Scheduler } from '../kernel/scheduler.ts';
import { Application, type ArrivedLead } from './application.ts';
import {
  checkAcceptedOnce,
  checkAudit,
  checkClaimsEnd,
  claimMs,
  checkCommands,
  checkConnections,
  checkDelivered,
  checkDone,
  checkErased,
  checkErasedStays,
  checkExport,
  checkForwards,
  checkGivenUp,
  checkHandedOnce,
  checkNothingWaits,
  checkSaidDead,
  checkSecrets,
  checkSigned,
  checkStillClaimed,
  checkStored,
  checkTaken,
  checkUnclaimed,
  mayBeAnotherList,
  undelivered,
  undone,
  Violation,
  waiting,
} from './invariants.ts';
import { kindOf, readInbox, type StoredForward, type StoredLeads } from './inbox-file.ts';
import { bookmarkedPath, exportPath, Operator, type Run, servicePort } from './operator.ts';
import type { CommandEnd, Happening, KillPoint, OperatorAction, Plan, TargetKind } from './plan.ts';
import { applicationPort, portOf, Receivers } from './receivers.ts';
import type { Failure, WorldResult } from './result.ts';
import { Senders } from './senders.ts';
import { Service } from './service.ts';
import { countIn, type Moment, pairOf, type TrueLead, Truth } from './truth.ts';

const startAt = Date.UTC(2026, 0, 5, 8);
const minute = 60_000;
const settleMs = 5 * minute;

interface WorldOptions {
  readonly program: Script;
  /** A directory in memory for this world alone; it is made, and removed at the end. */
  readonly folder: string;
}

/** Runs a plan to its end, or until a promise does not hold. */
export async function runWorld(plan: Plan, options: WorldOptions): Promise<WorldResult> {
  const world = new World(plan, options);
  try {
    return await world.run();
  } finally {
    rmSync(options.folder, { recursive: true, force: true });
  }
}

class World {
  readonly #plan: Plan;
  readonly #scheduler = new Scheduler(startAt);
  readonly #machine: Machine;
  readonly #truth = new Truth();
  readonly #service: Service;
  readonly #application: Application;
  readonly #senders: Senders;
  readonly #receivers: Receivers;
  readonly #operator: Operator;
  /** The senders, the application and the service: they never die. */
  readonly #outside: Owner = { isAlive: true, sockets: new Set() };
  readonly #trace: string[] = [];
  #failure: Failure | undefined;
  #pid = 1000;
  #links = 0;
  /** By how much the clock is off. */
  #clockError = 0;
  #diskFault: { readonly code: string; readonly until: number } | undefined;
  #slowDiskUntil = 0;
  readonly #databaseRandom: Random;
  #networkFault: (Happening & { kind: 'network' }) | undefined;
  #networkUntil = 0;
  #commitFaults: (Happening & { kind: 'commit' })[] = [];
  #lineFaults: (Happening & { kind: 'line' })[] = [];
  /** Where a command of the operator is to be killed. */
  readonly #killPoints = new Map<OperatorAction, { readonly call: KillPoint['call']; left: number }>();
  readonly #requests = new WeakMap<Owner, number>();
  /** The last attempt to hand a lead on, by the pair of lead and target. */
  readonly #attempts = new Map<string, { readonly at: number; readonly isUnderWay: () => boolean }>();
  /** Before when a lead is not to come to the application again, by its id. */
  readonly #putOff = new Map<
    string,
    { readonly client: Owner; readonly at: number; readonly until: number }
  >();
  /** The clocks have gone on evenly: then claims last as long as they should. */
  #calmSince = 0;
  /** Nothing went wrong but at the targets, and nobody had leads tried again. */
  #undisturbedSince = 0;
  /** By how much a clock was ahead at most, in milliseconds. */
  #mostAhead = 0;
  #slept = 0;
  #commandFault: { readonly end: CommandEnd; readonly until: number } | undefined;
  #hasHealed = false;
  /** Nothing happens to the receivers any more. */
  #mustRun = false;
  /** Where a receiver is to crash. */
  readonly #armed = new Map<number, string>();

  constructor(plan: Plan, { program, folder }: WorldOptions) {
    this.#plan = plan;
    const { seed } = plan;
    const scheduler = this.#scheduler;
    const truth = this.#truth;
    this.#databaseRandom = randomOf(seed, 'database');
    const diskRandom = randomOf(seed, 'disk');
    const disk = new Disk(folder, scheduler, diskRandom, {
      delay: (call) => {
        if (scheduler.now < this.#slowDiskUntil) return diskRandom.next() * 400;
        return call === 'commit' ? 0.5 + diskRandom.next() * 8 : 0.02 + diskRandom.next() * 0.4;
      },
      failure: (call, path) => this.#diskFailure(call, path),
    });
    for (const name of ['home', 'tmp']) mkdirSync(disk.real(`/sim/${name}`));
    const network = new Network(scheduler, {
      open: (port) => this.#link(port),
    });
    const commandRandom = randomOf(seed, 'commands');
    this.#machine = new Machine({
      scheduler,
      network,
      disk,
      program,
      databaseRules: {
        atCommit: (committing, _path, _step, isShared) => this.#atCommit(committing, isShared),
        atStatement: (process, _, sql) => this.#atStatement(process, sql),
        atOpen: (process) => this.#atOpen(process),
      },
      commandRules: {
        failure: (running) => this.#commandFailure(running),
        course: (start, parent) => this.#courseOf(start, parent, commandRandom),
      },
    });
    this.#service = new Service(truth, plan, randomOf(seed, 'service'), scheduler);
    this.#service.onRequest = (client) => this.#check(() => this.#onRequest(client));
    const createdRandom = randomOf(seed, 'created leads');
    let created = plan.leads;
    this.#service.onCreate = () => {
      this.#newLead(created, createdRandom);
      created += 1;
    };
    this.#application = new Application(truth, randomOf(seed, 'application'), scheduler);
    this.#application.onLead = (lead) => this.#check(() => this.#onForward(lead));
    this.#application.onPutOff = (id, client, ms) => {
      if (client !== undefined)
        this.#putOff.set(id, { client, at: scheduler.now, until: scheduler.now + ms });
    };
    this.#senders = new Senders({
      plan,
      scheduler,
      network,
      portOf,
      owner: this.#outside,
      random: randomOf(seed, 'senders'),
      onTry: (lead, end) => {
        this.#say(`${lead.id} was answered ${end}`);
        if (end === 200 && !truth.acknowledged.has(lead.id)) truth.acknowledged.set(lead.id, scheduler.now);
      },
    });
    const shared = {
      plan,
      machine: this.#machine,
      truth,
      clockError: () => this.#clockError,
      nextPid: () => (this.#pid += 1),
      onOutput: (process: SimProcess, text: string) => this.#onOutput(process, text),
    };
    this.#receivers = new Receivers({
      ...shared,
      random: randomOf(seed, 'receivers'),
      onEnd: (receiver, process, code) => {
        this.#say(
          `receiver ${receiver} (${process.pid}) ${code === undefined ? 'was killed' : `ended with ${code}: ${lastLine(process.stderr)}`}`,
        );
        this.#check(() => {
          if (code === 1) throw new Violation('no-internal-error', process.stderr);
          if (code === 2) throw new Violation('is-asked-what-it-knows', process.stderr);
          if (this.#mustRun)
            throw new Violation(
              'receivers-stay',
              `receiver ${receiver} ended with ${code}: ${process.stderr}`,
            );
          this.#checkStoredSoon();
          checkErased(disk, truth);
          this.#checkInbox();
          const isUndisturbed = scheduler.now - this.#undisturbedSince > minute;
          if (code !== undefined && plan.receivers === 1 && isUndisturbed)
            checkUnclaimed(this.#stored(), scheduler.now + this.#clockError);
        });
      },
    });
    this.#operator = new Operator({
      ...shared,
      random: randomOf(seed, 'operator'),
      onEnd: (run, code) => this.#check(() => this.#afterRun(run, code)),
    });
  }

  async run(): Promise<WorldResult> {
    const { lengthMs } = this.#plan;
    const endOfFaults = startAt + lengthMs;
    try {
      await this.#begin();
      const happenings = this.#plan.happenings.map((one) => ({ at: one.at, run: () => this.#happen(one) }));
      // While the machine sleeps nothing is sent: otherwise the faults behind a sleep would meet no leads.
      const steps = [...this.#arrivals(), ...happenings].sort((a, b) => a.at - b.at);
      for (const { at, run } of steps) {
        await this.#runUntil(startAt + at + this.#slept);
        if (this.#failure !== undefined) break;
        run();
      }
      await this.#runUntil(endOfFaults + this.#slept);
      await this.#end();
    } catch (error) {
      if (!(error instanceof LivelockError)) throw error;
      this.#fail('everything-ends', error.message);
    }
    for (const process of this.#machine.processes.values()) process.kill();
    await this.#scheduler.runUntil(this.#scheduler.now);
    const touched = this.#machine.touchedByDead;
    if (touched > 0)
      this.#fail('dead-touch-nothing', `processes did ${touched} things to the disk after their death`);
    return {
      seed: this.#plan.seed,
      failure: this.#failure,
      trace: this.#trace,
      digest: createHash('sha256').update(this.#trace.join('\n')).digest('hex'),
    };
  }

  #runUntil(time: number): Promise<void> {
    return this.#scheduler.runUntil(time, () => this.#failure !== undefined);
  }

  async #begin(): Promise<void> {
    const serve = (port: number, handle: (request: never, response: never) => void): void => {
      serverOn(this.#machine.network, this.#outside, {}, handle).listen(port);
    };
    serve(servicePort, this.#service.handle.bind(this.#service));
    serve(applicationPort, this.#application.handle.bind(this.#application));
    this.#receivers.startAll();
    await this.#runUntil(startAt + 100);
  }

  /** When each lead comes into being, in milliseconds that the machine is awake. */
  #arrivals(): readonly { readonly at: number; readonly run: () => void }[] {
    const { leads, lengthMs, seed, crowdAt } = this.#plan;
    const random = randomOf(seed, 'leads');
    return Array.from({ length: leads }, (_, i) => {
      // Bursts, so that several deliveries are stored in one transaction.
      const at = random.chance(0.4)
        ? (i % 7) * (lengthMs / 7) + random.between(0, 200)
        : random.between(0, lengthMs);
      const comes = crowdAt === undefined || i % 10 === 0 ? at : crowdAt;
      return { at: comes, run: () => this.#newLead(i, random) };
    });
  }

  #newLead(i: number, random: Random): void {
    const lead = this.#createLead(`lead_${String(i).padStart(4, '0')}`, i, random);
    const { id } = lead;
    if (random.chance(0.04))
      this.#scheduler.after(random.between(1, 20) * minute, () => this.#service.delete(id));
    // Some are never pushed: the service lost them.
    if (random.chance(0.05)) return;
    this.#scheduler.after(random.between(0, 300), () => {
      this.#truth.tried.add(id);
      this.#senders.deliver(lead);
    });
  }

  #createLead(id: string, i: number, random: Random): TrueLead {
    const now = this.#scheduler.now;
    const email = `person-${i}-of-${this.#plan.seed}@example.com`;
    const body = JSON.stringify({
      id,
      category: random.pick(['solar', 'roofing', 'legal']),
      contact: { name: `Zoë ${i}`, email, phone: `+49 30 ${1_000_000 + i}` },
      metadata: { source: 'facebook', note: 'x'.repeat(random.pick([0, 100, 3000])) },
      createdAt: new Date(now).toISOString(),
    });
    const lead = this.#service.add({ id, createdAt: now, email, body });
    this.#say(`${id} comes into being`);
    return lead;
  }

  #happen(happening: Happening): void {
    const { now } = this.#scheduler;
    this.#say(inWords(happening));
    switch (happening.kind) {
      case 'crash':
        this.#crash(happening);
        break;
      case 'power-loss':
        this.#losePower();
        break;
      case 'stop':
        this.#receivers.running.get(happening.receiver)?.interrupt();
        break;
      case 'suspend':
        this.#slept += happening.forMs;
        this.#scheduler.suspend(happening.forMs);
        // What was claimed before goes on right after it, though its claim is over.
        this.#calmFrom(this.#scheduler.now + claimMs);
        this.#disturb();
        break;
      case 'commit':
        this.#commitFaults.push(happening);
        break;
      case 'line':
        this.#lineFaults.push(happening);
        break;
      case 'disk':
        this.#diskFault = { code: happening.code, until: now + happening.forMs };
        break;
      case 'slow-disk':
        this.#slowDiskUntil = now + happening.forMs;
        this.#disturb();
        break;
      case 'network':
        this.#networkFault = happening;
        this.#networkUntil = now + happening.forMs;
        break;
      case 'clock':
        this.#clockError += happening.byMs;
        this.#mostAhead = Math.max(this.#mostAhead, this.#clockError);
        // A claim that was made before lasts longer or shorter.
        this.#calmFrom(now + claimMs);
        this.#disturb();
        break;
      case 'flags':
        this.#receivers.restart(happening.receiver, happening);
        this.#scheduler.after(happening.forMs, () => this.#receivers.restartAsPlanned());
        break;
      case 'application':
        this.#application.break(happening.answer, happening.forMs);
        break;
      case 'command':
        this.#commandFault = { end: happening.end, until: now + happening.forMs };
        break;
      case 'rotate':
        this.#receivers.rotate(happening.how);
        this.#disturb();
        break;
      case 'service':
        this.#service.break(happening.fault, happening.forMs);
        break;
      case 'operator':
        this.#operate(happening.action, happening.killedAt);
        break;
    }
  }

  get #awakeMs(): number {
    return this.#scheduler.now - startAt - this.#slept;
  }

  /** Of the service: a walk may make so many requests, and be killed at one of them. */
  #onRequest(client: Owner): void {
    const count = (this.#requests.get(client) ?? 0) + 1;
    this.#requests.set(client, count);
    const run = [...this.#operator.running.values()].find(({ process }) => process === client);
    if (run === undefined) return;
    if (count > mostRequestsOf(this.#truth.leads.size))
      throw new Violation(
        'everything-ends',
        `leads ${run.action} makes its request ${count} for ${this.#truth.leads.size} leads`,
      );
    if (this.#isKillPoint(run.action, 'request')) run.process.kill();
  }

  #isKillPoint(action: OperatorAction, call: KillPoint['call']): boolean {
    const point = this.#killPoints.get(action);
    if (point?.call !== call) return false;
    point.left -= 1;
    if (point.left > 0) return false;
    this.#killPoints.delete(action);
    return true;
  }

  #calmFrom(at: number): void {
    this.#calmSince = Math.max(this.#calmSince, at);
  }

  #moment(): Moment {
    return { now: this.#scheduler.now, awakeMs: this.#awakeMs };
  }

  #onForward({ id, text, client, socket, response, credential }: ArrivedLead): void {
    checkTaken(this.#truth, 'application', id, text);
    checkSigned(id, credential);
    let isAnswered = false;
    response.once('close', () => (isAnswered = true));
    this.#onHanding(id, 'application', () => !isAnswered && socket.isHeldByPeer);
    this.#checkPutOff(id);
    if (client !== undefined)
      checkConnections([...client.sockets].filter((one) => one.remotePort === applicationPort).length);
  }

  /** An attempt arrives: it is the only one at this target, which has not had the lead. */
  #onHanding(id: string, target: TargetKind, isUnderWay: () => boolean): void {
    // A slow network may bring it when its sender is gone.
    if (!isUnderWay()) return;
    const handing = { id, target, ...this.#moment(), calmSince: this.#calmSince };
    checkHandedOnce(this.#truth, handing);
    checkErasedStays(this.#truth, handing);
    const pair = pairOf(id, target);
    const other = this.#attempts.get(pair);
    this.#attempts.set(pair, { at: handing.now, isUnderWay });
    if (other !== undefined && other.at > this.#calmSince && other.isUnderWay())
      throw new Violation('one-attempt-at-a-time', `${target} is handed ${id} by two attempts at a time`);
  }

  #underWay(): ReadonlySet<string> {
    const attempts = [...this.#attempts].filter(
      ([, { at, isUnderWay }]) => at > this.#calmSince && isUnderWay(),
    );
    return new Set(attempts.map(([pair]) => pair));
  }

  /** What an application says of when to come again holds, as long as nobody loses what it said. */
  #checkPutOff(id: string): void {
    const putOff = this.#putOff.get(id);
    this.#putOff.delete(id);
    const isKept = putOff !== undefined && putOff.client.isAlive && putOff.at > this.#undisturbedSince;
    if (!isKept || this.#operator.running.has('retry')) return;
    const { now } = this.#scheduler;
    const waited = now - putOff.at;
    // Clocks count whole milliseconds.
    if (waited + 1 < putOff.until - putOff.at)
      throw new Violation(
        'forwards-wait-as-told',
        `${id} is handed on again after ${Math.round(waited)} ms, before its Retry-After`,
      );
  }

  #losePower(): void {
    this.#notePowerLoss();
    this.#machine.powerLoss();
  }

  #notePowerLoss(when = ''): void {
    this.#disturb();
    this.#say(`the power fails${when}`);
  }

  #crash(happening: Happening & { kind: 'crash' }): void {
    const { receiver, point } = happening;
    const process = this.#receivers.running.get(receiver);
    if (process === undefined) {
      this.#scheduler.after(30_000, () => {
        if (!this.#hasHealed && this.#receivers.running.has(receiver)) this.#crash(happening);
      });
      return;
    }
    if (point === 'idle') this.#killed(receiver, process, 'idle');
    else if (point === 'forwarding' && this.#plan.targets.includes('application')) {
      this.#application.onNextRequest = (client) => {
        for (const [forwarding, running] of this.#receivers.running) {
          if (running === client) this.#killed(forwarding, running, 'forwarding');
        }
      };
    } else this.#armed.set(receiver, point);
  }

  #killed(receiver: number, process: SimProcess, point: string): void {
    this.#noteKill(receiver, point);
    process.kill();
  }

  #noteKill(receiver: number, point: string): void {
    this.#armed.delete(receiver);
    this.#disturb();
    this.#say(`receiver ${receiver} is killed: ${point}`);
  }

  #receiverOf(process: SimProcess): number | undefined {
    for (const [receiver, running] of this.#receivers.running) if (running === process) return receiver;
    return undefined;
  }

  #atCommit(process: SimProcess, isShared: boolean): CommitFault | undefined {
    const receiver = this.#receiverOf(process);
    const point = receiver === undefined ? undefined : this.#armed.get(receiver);
    const armed = crashTimes.find((time) => point === `${time}-commit`);
    const when = armed === 'during' && isShared ? 'after' : armed;
    if (receiver !== undefined && when !== undefined) {
      this.#noteKill(receiver, `${when}-commit`);
      return { kind: 'crash', when, how: 'kill' };
    }
    const fault = this.#commitFaults.shift();
    if (fault === undefined) {
      const failing = this.#databaseFailure(process, 'COMMIT', 0.7);
      return failing && { kind: 'error', when: 'before', ...failing };
    }
    if (fault.code === 'power-loss') {
      this.#notePowerLoss(`, ${fault.when} ${process.options.name} makes something durable`);
      return { kind: 'crash', when: fault.when, how: 'power' };
    }
    this.#disturb();
    this.#say(`${process.options.name}: COMMIT fails with ${fault.code}, ${fault.when} it is done`);
    this.#checkStoredSoon();
    return {
      kind: 'error',
      when: fault.when,
      code: fault.code,
      isRolledBack: this.#databaseRandom.chance(0.5),
    };
  }

  #stored(): StoredLeads {
    const stored = readInbox(this.#machine.disk);
    for (const { id, target, state } of stored.forwards)
      if (state === 'dead') this.#truth.dead.add(pairOf(id, target));
    return stored;
  }

  /** All that the inbox has to hold at any time. */
  #checkInbox(): void {
    const stored = this.#stored();
    checkStored(this.#truth, stored);
    checkForwards(this.#truth, this.#plan, stored);
    checkDone(this.#truth, stored, this.#receivers.linesInFiles());
    checkGivenUp(this.#plan, stored, this.#scheduler.now, this.#mostAhead);
    checkClaimsEnd(stored, this.#scheduler.now, this.#mostAhead);
    checkStillClaimed(stored, this.#underWay());
  }

  #atStatement(process: SimProcess, sql: string): StatementFault | undefined {
    const isWriting = /^\s*(?:INSERT|UPDATE|DELETE|CREATE|VACUUM)\b/i.test(sql);
    if (!isWriting && this.#diskFault?.code === 'ENOSPC') return undefined;
    return this.#databaseFailure(process, /^\s*\w+/.exec(sql)?.[0] ?? '', 0.05);
  }

  #atOpen(process: SimProcess): 'SQLITE_CANTOPEN' | undefined {
    if (this.#diskFault?.code === 'ENOSPC') return undefined;
    return this.#databaseFailure(process, 'open', 0.3) && 'SQLITE_CANTOPEN';
  }

  /** While its disk fails, or is full, the database's calls do: seldom, since what it reads and writes is mostly in memory. */
  #databaseFailure(process: SimProcess, call: string, probability: number): StatementFault | undefined {
    const fault = this.#diskFault;
    if (fault === undefined || this.#scheduler.now >= fault.until) return undefined;
    if (!this.#databaseRandom.chance(probability)) return undefined;
    const code = fault.code === 'ENOSPC' ? 'SQLITE_FULL' : 'SQLITE_IOERR';
    this.#disturb();
    this.#say(`${process.options.name}: ${call} fails with ${code}`);
    this.#checkStoredSoon();
    return { code, isRolledBack: this.#databaseRandom.chance(0.5) };
  }

  #diskFailure(call: string, path: string): string | undefined {
    if (call === 'rename' && this.#isKilledBeforeRename(path)) return 'EIO';
    const line = outputFile.test(path)
      ? this.#lineFaults.find((fault) => call === (fault.call === 'sync' ? 'fdatasync' : fault.call))
      : undefined;
    if (line !== undefined) {
      this.#lineFaults.splice(this.#lineFaults.indexOf(line), 1);
      this.#say(`${call} of ${path} fails with ${line.end}`);
      this.#disturb();
      if (line.end !== 'power-loss') return line.end;
      this.#losePower();
      return 'EIO';
    }
    const fault = this.#diskFault;
    if (fault === undefined || this.#scheduler.now >= fault.until) return undefined;
    const hits =
      fault.code === 'ENOSPC'
        ? /^(write|create|fsync|fdatasync|mkdir)$/
        : /^(write|fsync|fdatasync|read|rename)$/;
    if (!hits.test(call)) return undefined;
    this.#disturb();
    this.#say(`${call} of ${path} fails with ${fault.code}`);
    return fault.code;
  }

  #isKilledBeforeRename(path: string): boolean {
    for (const [action, { process }] of this.#operator.running) {
      const isOfRun = path.startsWith(
        { export: '/sim/export', bookmark: '/sim/bookmark' }[action as string] ?? '-',
      );
      if (!isOfRun || !this.#isKillPoint(action, 'rename')) continue;
      process.kill();
      return true;
    }
    return false;
  }

  /** What was answered although it was not stored is seen before its other copies store it. */
  #checkStoredSoon(): void {
    this.#scheduler.after(storedCheckMs, () => this.#check(() => this.#checkInbox()));
  }

  #commandFailure(running: number): string | undefined {
    this.#check(() => checkCommands(running + 1));
    const fault = this.#commandFault;
    if (fault?.end !== 'cannot-start' || this.#scheduler.now >= fault.until) return undefined;
    return 'EAGAIN';
  }

  #courseOf({ stdin, pid }: CommandStart, parent: Parent, random: Random): CommandCourse {
    const fault = this.#commandFault;
    const exitAfterMs = random.between(5, 400);
    const [, id] = /^\{"id":"([^"]+)".*\}\s*$/.exec(stdin.toString()) ?? [];
    if (id !== undefined)
      this.#check(() => {
        checkTaken(this.#truth, 'command', id, stdin.toString());
        this.#onHanding(id, 'command', () => parent.isAlive && this.#machine.commands.has(pid));
      });
    if (fault !== undefined && this.#scheduler.now < fault.until) {
      return { exitAfterMs: fault.end === 'hangs' ? undefined : exitAfterMs, exitCode: 1 };
    }
    if (id === undefined) return { exitAfterMs, exitCode: 2 };
    const run = (): void => countIn(this.#truth.taken.command, id);
    return { exitAfterMs, exitCode: 0, effect: { afterMs: exitAfterMs, run } };
  }

  /** Its numbers are those of the connection and the time: how many pieces a version of node writes decides nothing. */
  #link(port: number): Link | undefined {
    this.#links += 1;
    const name = `link ${this.#links}`;
    const at = (): number => randomOf(this.#plan.seed, `${name} ${this.#scheduler.now}`).next();
    const random = randomOf(this.#plan.seed, name);
    const calm: Link = { latency: () => 0.1 + at() * 5, resetAfter: undefined };
    const fault = this.#networkFault;
    if (fault === undefined || this.#scheduler.now >= this.#networkUntil) return calm;
    const to = port === applicationPort ? 'application' : port === servicePort ? 'service' : 'receiver';
    if (to !== fault.to || random.chance(0.3)) return calm;
    this.#disturb();
    if (fault.fault === 'silent') return undefined;
    if (fault.fault === 'slow') return { latency: () => 200 + at() * 3_000, resetAfter: undefined };
    return { latency: calm.latency, resetAfter: random.between(0, 2_000) };
  }

  #operate(action: OperatorAction, killedAt?: KillPoint): Run | undefined {
    const run = this.#operator.run(action);
    if (run === undefined) return undefined;
    if (killedAt !== undefined) this.#killPoints.set(action, { call: killedAt.call, left: killedAt.nth });
    this.#say(`the operator runs leads ${run.argv.join(' ')}`);
    if (action === 'retry') this.#disturb();
    if (action === 'prune') this.#truth.isPruned = true;
    if (run.erases !== undefined) this.#truth.erased.set(run.erases, this.#scheduler.now);
    return run;
  }

  #afterRun(run: Run, code: number | undefined): void {
    const { action, process } = run;
    this.#killPoints.delete(action);
    if (action === 'retry') this.#disturb();
    this.#say(
      `leads ${action} ${code === undefined ? 'was killed' : `ended with ${code}: ${lastLine(process.stderr)}`}`,
    );
    const { disk } = this.#machine;
    const { now } = this.#scheduler;
    if (code === undefined) return;
    if (code === 1) throw new Violation('no-internal-error', process.stderr);
    if (code === 2) throw new Violation('is-asked-what-it-knows', process.stderr);
    if (this.#service.tooEarly > 0)
      throw new Violation('waits-as-told', `a request came before its Retry-After`);
    if (action === 'retry') this.#checkInbox();
    if (code === 0 && (action === 'export' || action === 'bookmark'))
      checkExport(disk, this.#truth, run, now);
    const erased = this.#truth.leads.get(run.erases ?? '');
    if (code === 0 && erased !== undefined) {
      this.#truth.gone.add(erased);
      this.#truth.goneAt.set(erased.id, this.#moment());
      // A service that does not know it sends the lead once more.
      this.#scheduler.after(minute, () => this.#senders.deliverTo(0, erased));
    }
    checkErased(disk, this.#truth);
    if ((action === 'audit' && (code === 0 || code === 7)) || (action === 'repair' && code === 0)) {
      const stored = this.#stored().ids;
      checkAudit(this.#truth, { run, code, now, stored, settleMs });
    }
  }

  #onOutput(process: SimProcess, text: string): void {
    this.#check(() => checkSecrets(process.options.name, text));
    const receiver = this.#receiverOf(process);
    if (receiver === undefined) return;
    for (const [, label = ''] of text.matchAll(/ dead for (.*)/g)) this.#truth.saidDead.add(kindOf(label));
    for (const line of text.split('\n')) {
      if (line.startsWith('{"type":"forward"')) this.#onForwarded(receiver, JSON.parse(line) as ForwardEvent);
      if (!line.startsWith('{"type":"delivery"')) continue;
      this.#onEvent(receiver, JSON.parse(line) as DeliveryEvent);
      if (this.#armed.get(receiver) !== 'answering') continue;
      this.#armed.delete(receiver);
      // Between two events: in which order one of them goes on differs from node to node.
      this.#scheduler.after(0, () => {
        if (process.isAlive) this.#killed(receiver, process, 'answering');
      });
    }
  }

  #onEvent(receiver: number, { verdict, leadId, status, reason }: DeliveryEvent): void {
    this.#say(
      `receiver ${receiver} says ${leadId ?? 'no lead'} is ${verdict}${reason === null ? '' : ` (${reason})`}, ${status}`,
    );
    if (leadId === null || verdict !== 'accepted') return;
    countIn(this.#truth.accepted, leadId);
    if (!this.#truth.wanted.has(leadId))
      this.#truth.wanted.set(leadId, this.#receivers.flagsOf(receiver).targets);
    this.#check(() => checkAcceptedOnce(this.#truth, leadId));
  }

  #onForwarded(receiver: number, { leadId: id, target: label, attempt, state, answer }: ForwardEvent): void {
    const target = kindOf(label);
    this.#say(`receiver ${receiver} says ${id} is ${state} at ${target}, attempt ${attempt}: ${answer}`);
    const pair = pairOf(id, target);
    if (state === 'dead') this.#truth.dead.add(pair);
    if (state !== 'done' || this.#truth.saidDone.has(pair)) return;
    this.#truth.saidDone.set(pair, { id, target, ...this.#moment() });
  }

  /** Everything works again: what was outstanding is delivered, and every command succeeds. */
  async #end(): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#say('all faults end');
    this.#hasHealed = true;
    const plan = this.#plan;
    this.#service.heal();
    this.#application.heal();
    [this.#diskFault, this.#networkFault, this.#commandFault] = [undefined, undefined, undefined];
    [this.#slowDiskUntil, this.#commitFaults, this.#lineFaults] = [0, [], []];
    this.#armed.clear();
    this.#killPoints.clear();
    this.#application.onNextRequest = undefined;
    this.#receivers.restartAsPlanned();
    await this.#checkRecovery();
    await this.#wait(90 * minute, () => this.#senders.open === 0 && this.#operator.running.size === 0);
    this.#check(() => {
      if (this.#senders.open > 0)
        throw new Violation(
          'everything-ends',
          `${this.#senders.open} copies are never answered 200, and not given up`,
        );
      const [hanging] = this.#operator.running.keys();
      if (hanging !== undefined) throw new Violation('everything-ends', `leads ${hanging} does not end`);
    });
    const stored = (): StoredLeads => this.#stored();
    await this.#wait(longestTryMs, () => waiting(stored()).length === 0, 30_000);
    this.#check(() => checkNothingWaits(waiting(stored())));
    this.#check(() => {
      this.#checkInbox();
      checkSaidDead(this.#truth, stored());
    });
    await this.#runAction('retry');
    await this.#wait(3 * minute, () => undone(stored()).length === 0, 10_000);
    this.#check(() => checkNothingWaits(undone(stored())));
    await this.#runAction('audit');
    await this.#runAction('export');
    await this.#runAction('bookmark');
    this.#mustRun = false;
    this.#receivers.stopAll();
    await this.#wait(10 * minute, () => this.#receivers.running.size === 0);
    this.#check(() => {
      if (this.#receivers.running.size > 0) throw new Violation('everything-ends', 'a receiver does not end');
      this.#checkDurable();
      this.#checkInbox();
      checkDelivered(this.#truth, plan, this.#receivers.linesInFiles());
    });
  }

  /** Each receiver runs, stays, and takes a new lead, and each target gets that, whatever was before. */
  async #checkRecovery(): Promise<void> {
    const plan = this.#plan;
    await this.#runUntil(this.#scheduler.now + graceMs);
    if (this.#failure !== undefined) return;
    this.#mustRun = true;
    const random = randomOf(plan.seed, 'leads after the faults');
    const fresh = Array.from({ length: plan.receivers }, (_, receiver) => {
      const lead = this.#createLead(`fresh_${receiver}`, 1_000_000 + receiver, random);
      this.#truth.tried.add(lead.id);
      this.#senders.deliverTo(receiver, lead);
      return lead.id;
    });
    const unanswered = (): readonly string[] => fresh.filter((id) => !this.#truth.acknowledged.has(id));
    await this.#wait(longestAnswerMs, () => unanswered().length === 0, 1_000);
    this.#check(() => {
      const [first] = unanswered();
      if (first !== undefined) throw new Violation('receivers-recover', `${first} is not answered 200`);
    });
    const lacking = (): string | undefined =>
      undelivered(this.#truth, fresh, plan.targets, this.#receivers.linesInFiles());
    await this.#wait(longestRecoveryMs, () => lacking() === undefined, 10_000);
    this.#check(() => {
      const detail = lacking();
      if (detail !== undefined) throw new Violation('targets-recover', detail);
    });
  }

  /** What ended well outlives a power loss. */
  #checkDurable(): void {
    const { disk } = this.#machine;
    const exports = [exportPath, bookmarkedPath].map((path) => disk.real(path));
    const before = exports.map((path) => readFileSync(path));
    this.#machine.powerLoss();
    const isLeft = exports.every((path, i) => existsSync(path) && before[i]?.equals(readFileSync(path)));
    if (!isLeft)
      throw new Violation('exported-is-durable', 'a power loss takes back what an export has written');
  }

  async #runAction(action: OperatorAction): Promise<void> {
    if (this.#failure !== undefined) return;
    const run = this.#operate(action);
    await this.#wait(60 * minute, () => !this.#operator.running.has(action));
    this.#check(() => {
      if (this.#operator.running.has(action))
        throw new Violation('everything-ends', `leads ${action} does not end`);
      const code = run?.process.exitCode;
      if (code === 0 || run === undefined || (action === 'audit' && code === 7)) return;
      if (!mayBeAnotherList(this.#machine.disk, this.#truth, run))
        throw new Violation('healthy-succeeds', `leads ${action} ended with ${code}: ${run.process.stderr}`);
    });
  }

  async #wait(ms: number, isDone: () => boolean, everyMs = 5_000): Promise<void> {
    const until = this.#scheduler.now + ms;
    while (this.#failure === undefined && this.#scheduler.now < until && !isDone()) {
      await this.#runUntil(Math.min(until, this.#scheduler.now + everyMs));
    }
  }

  #check(holds: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      holds();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#fail(error.invariant, error.message);
    }
  }

  #fail(invariant: string, detail: string): void {
    this.#failure ??= { invariant, detail, at: this.#scheduler.now - startAt };
    this.#say(`BROKEN ${invariant}: ${detail}`);
  }

  #disturb(): void {
    this.#undisturbedSince = this.#scheduler.now;
  }

  #say(words: string): void {
    const time = new Date(this.#scheduler.now).toISOString().slice(8, 23).replace('T', ' ');
    this.#trace.push(`${time}  ${words}`);
  }
}

/** Far above what the product allows itself, three for each answer with a new lead and fifty, each tried five times. */
const mostRequestsOf = (leads: number): number => 15 * leads + 500;

/** From the end of all faults until the receivers that one of them ended run again, and what hangs was given up. */
const graceMs = 2 * minute;

/** From a crash, or a failure of the database, until an answer that should not have been given has arrived. */
const storedCheckMs = 30;

/** A healthy receiver answers within: its sender comes again a few times, behind what still waits. */
const longestAnswerMs = 5 * minute;

/** A target that was down is tried each minute, and new leads come first. */
const longestRecoveryMs = 3 * minute;

/** What waits is tried once its own pause of an hour at most is over, whatever the clock was set to. */
const longestTryMs = 80 * minute;

const crashTimes: readonly CrashTime[] = ['before', 'during', 'after'];

/** That lines of received leads go to. */
const outputFile = /^\/sim\/leads-\d+\.ndjson$/;

interface DeliveryEvent {
  readonly verdict: string;
  readonly leadId: string | null;
  readonly status: number;
  readonly reason: string | null;
}

interface ForwardEvent {
  readonly leadId: string;
  readonly target: string;
  readonly attempt: number;
  readonly state: StoredForward['state'];
  readonly answer: string;
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';

function inWords(happening: Happening): string {
  const facts = Object.entries(happening).filter(([name]) => name !== 'at' && name !== 'kind');
  const words = facts.map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return [`* ${happening.kind}`, ...words].join(', ');
}
