import { type Style, styles } from '../../support/moving-service.ts';
import type { CrashTime } from '../kernel/database.ts';
import { type Random, randomOf } from '../kernel/random.ts';

/** What happens to a world at a time after its start, in milliseconds; a plan without one of these is a plan as well. */
export type Happening = { readonly at: number } & (
  | { readonly kind: 'crash'; readonly receiver: number; readonly point: CrashPoint }
  | { readonly kind: 'power-loss' }
  | { readonly kind: 'stop'; readonly receiver: number }
  | { readonly kind: 'suspend'; readonly forMs: number }
  | { readonly kind: 'commit'; readonly when: 'before' | 'after'; readonly code: CommitCode }
  | { readonly kind: 'commit'; readonly when: CrashTime; readonly code: 'power-loss' }
  | { readonly kind: 'disk'; readonly code: 'ENOSPC' | 'EIO'; readonly forMs: number }
  | { readonly kind: 'slow-disk'; readonly forMs: number }
  | { readonly kind: 'network'; readonly fault: 'reset' | 'silent' | 'slow'; readonly to: 'receiver' | 'application' | 'service'; readonly forMs: number }
  | { readonly kind: 'clock'; readonly byMs: number }
  | ({ readonly kind: 'flags'; readonly receiver: number; readonly forMs: number } & Flags)
  | { readonly kind: 'application'; readonly answer: ApplicationAnswer; readonly forMs: number }
  | { readonly kind: 'command'; readonly end: CommandEnd; readonly forMs: number }
  | { readonly kind: 'rotate'; readonly how: 'rename' | 'remove' | 'truncate' | 'cut' }
  | { readonly kind: 'service'; readonly fault: ServiceFault; readonly forMs: number }
  | { readonly kind: 'operator'; readonly action: OperatorAction; readonly killedAt?: KillPoint }
  | { readonly kind: 'line'; readonly call: 'write' | 'sync' | 'read'; readonly end: 'ENOSPC' | 'EIO' | 'power-loss' }
); // prettier-ignore

type CrashPoint = 'idle' | `${CrashTime}-commit` | 'forwarding' | 'answering';
/** A command is killed at its nth request of the service, or in front of its nth rename of a file. */
export interface KillPoint {
  readonly call: 'request' | 'rename';
  readonly nth: number;
}
type CommitCode = 'SQLITE_FULL' | 'SQLITE_IOERR' | 'SQLITE_BUSY';
export type ApplicationAnswer = 'refuses' | 'fails' | 'retry-after' | 'hangs' | 'absent';
export type CommandEnd = 'fails' | 'hangs' | 'cannot-start';
export type ServiceFault = 'down' | 'limited' | 'cut' | 'slow' | 'deletes' | 'creates' | 'repeats';
export type OperatorAction =
  'export' | 'bookmark' | 'audit' | 'repair' | 'retry' | 'erase' | 'prune' | 'stats';
export type TargetKind = 'application' | 'file' | 'command';

/** What a receiver is started with; targets are some of the plan's. */
export interface Flags {
  readonly targets: readonly TargetKind[];
}

/** All that a seed decides before the world begins; each actor draws its own numbers of the seed. */
export interface Plan {
  readonly seed: number;
  /** How long leads come and faults happen; what a machine sleeps is not in it. In milliseconds. */
  readonly lengthMs: number;
  /** They share one inbox. */
  readonly receivers: number;
  readonly leads: number;
  /** Copies of one delivery that the sender begins in the same turn. */
  readonly copies: number;
  readonly targets: readonly TargetKind[];
  /** So long a target is tried for a lead that it does not take; default: three days. */
  readonly giveUp?: keyof typeof giveUpTimes;
  /** How the service shows where the next page is. */
  readonly style: Style;
  /** No page is longer. */
  readonly pageCap: number;
  /** When nine of ten leads come at once, in milliseconds like `lengthMs`; default: they do not. */
  readonly crowdAt?: number;
  readonly happenings: readonly Happening[];
}

const minute = 60_000;

/** In milliseconds. */
export const giveUpTimes = {
  '1m': minute,
  '10m': 10 * minute,
  '20h': 20 * 60 * minute,
  '3d': 72 * 60 * minute,
};

/** The world of a seed. */
export function planOf(seed: number): Plan {
  const random = randomOf(seed, 'plan');
  const lengthMs = random.between(20, 35) * minute;
  const receivers = random.pick([1, 1, 1, 1, 1, 1, 2, 2, 3, 4]);
  const targets = (['application', 'file', 'command'] as const).filter(() => random.chance(0.6));
  const copies = random.pick([2, 3, 3, 4, 4, 5]);
  const plan: Omit<Plan, 'happenings'> = {
    seed,
    lengthMs,
    receivers,
    leads: Math.round(random.between(238, 262) / meanCopiesOf(copies)),
    copies,
    targets: targets.length === 0 ? (['application'] as const) : targets,
    style: random.pick(random.chance(0.3) ? styles.filter((style) => /offset/.test(style)) : styles),
    pageCap: random.pick([7, 15, 40, 60]),
  };
  const crashes = Array.from({ length: random.between(3, 5) }, () => crash(random, plan));
  const faults = Array.from({ length: random.between(7, 9) }, () => fault(random, plan)).flatMap(
    (one): readonly Happening[] =>
      // Only what reads the file finds out that it ends inside a line.
      one.kind === 'rotate' && one.how === 'cut'
        ? [one, { at: one.at, kind: 'line', call: 'read', end: 'EIO' }]
        : [one],
  );
  const actions = Array.from({ length: random.between(3, 4) }, () => operation(random, plan)).flat();
  const sleeps = Array.from({ length: 3 }, (): Happening => ({
    at: random.between(0, lengthMs),
    kind: 'suspend',
    forMs: random.between(940, 1060) * minute,
  }));
  const crowd = crowded(randomOf(seed, 'plan crowd'), plan);
  const restarts = otherFlags(randomOf(seed, 'plan flags'), plan);
  const happenings = [...crashes, ...faults, ...actions, ...sleeps, ...crowd.happenings, ...restarts].sort(
    (a, b) => a.at - b.at,
  );
  const whole = { ...plan, ...crowd, happenings };
  return withHangs(withGiveUp(whole));
}

/** In one world of three, targets are given up so soon that some leads are dead before a person has them tried again. */
function withGiveUp(plan: Plan): Plan {
  const random = randomOf(plan.seed, 'plan give up');
  if (!random.chance(1 / 3)) return plan;
  return { ...plan, giveUp: random.pick(['1m', '10m', '20h']) };
}

/** In one world of three, a burst of leads is under way to a target that hangs when its receiver ends, or a person has them retried. */
function withHangs(plan: Plan): Plan {
  const random = randomOf(plan.seed, 'plan hangs');
  if (!random.chance(1 / 3)) return plan;
  const { lengthMs, receivers, targets } = plan;
  const at = Math.round((random.between(1, 6) * lengthMs) / 7) - 500;
  const forMs = 25_000;
  const hangs: Happening = targets.includes('application')
    ? { at, kind: 'application', answer: 'hangs', forMs }
    : { at, kind: 'command', end: 'hangs', forMs };
  const later = at + random.between(2_000, 10_000);
  const next: Happening =
    receivers > 1
      ? { at: later, kind: 'operator', action: 'retry' }
      : { at: later, kind: 'stop', receiver: 0 };
  return { ...plan, happenings: [...plan.happenings, hangs, next].sort((a, b) => a.at - b.at) };
}

/** Of one lead: half of them come in so many copies, the others in any number up to it. */
const meanCopiesOf = (copies: number): number => (copies + (1 + copies) / 2) / 2;

type Size = Pick<Plan, 'lengthMs' | 'receivers'>;

function crash(random: Random, { lengthMs, receivers }: Size): Happening {
  const at = random.between(0, lengthMs);
  const when = random.pick(['before', 'during', 'during', 'after'] as const);
  if (random.chance(0.3))
    return random.chance(0.5) ? { at, kind: 'power-loss' } : { at, kind: 'commit', when, code: 'power-loss' };
  const point = random.pick(['idle', `${when}-commit`, `${when}-commit`, 'forwarding', 'answering'] as const);
  return { at, kind: 'crash', receiver: random.between(0, receivers - 1), point };
}

function fault(random: Random, { lengthMs, receivers }: Size): Happening {
  const at = random.between(0, lengthMs);
  const forMs = random.pick([2_000, 20_000, minute, 4 * minute]);
  const kinds: readonly (() => Happening)[] = [
    () => ({ at, kind: 'stop', receiver: random.between(0, receivers - 1) }),
    () => ({
      at,
      kind: 'commit',
      when: random.pick(['before', 'after']),
      code: random.pick(['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_BUSY']),
    }),
    () => ({
      at,
      kind: 'disk',
      code: random.pick(['ENOSPC', 'EIO']),
      forMs: random.pick([500, 5_000, minute]),
    }),
    () => ({ at, kind: 'slow-disk', forMs }),
    () => ({
      at,
      kind: 'line',
      call: random.pick(['write', 'sync']),
      end: random.pick(['ENOSPC', 'EIO']),
    }),
    () => ({ at, kind: 'line', call: 'sync', end: 'power-loss' }),
    () => ({
      at,
      kind: 'network',
      fault: random.pick(['reset', 'silent', 'slow']),
      to: random.pick(['receiver', 'receiver', 'application']),
      forMs,
    }),
    () => ({ at, kind: 'clock', byMs: random.between(-10, 10) * minute }),
    () => ({
      at,
      kind: 'application',
      answer: random.pick(['refuses', 'fails', 'retry-after', 'hangs', 'absent']),
      forMs,
    }),
    () => ({ at, kind: 'command', end: random.pick(['fails', 'hangs', 'cannot-start']), forMs }),
    () => ({ at, kind: 'rotate', how: random.pick(['rename', 'remove', 'truncate', 'cut', 'cut']) }),
  ];
  return random.pick(kinds)();
}

/** What the operator does, often while something goes wrong, and once more behind that. */
function operation(
  random: Random,
  { lengthMs, targets, style }: Omit<Plan, 'happenings'>,
): readonly Happening[] {
  const action = random.pick([
    'export', 'export', 'bookmark', 'bookmark', 'bookmark', 'audit', 'audit', 'repair', 'retry', 'erase', 'prune', 'stats',
  ] as const); // prettier-ignore
  const at = random.between(Math.round(lengthMs / 5), lengthMs);
  const calm: Happening = { at, kind: 'operator', action };
  if (action === 'audit') return [outage(random, at, targets), calm];
  if ((action !== 'export' && action !== 'bookmark') || random.chance(0.2)) return [calm];
  const again = { ...calm, at: at + random.between(10_000, 5 * minute) };
  if (random.chance(0.5)) return [...disturbances(random, at, style), calm, again];
  if (random.chance(0.5)) {
    // A walk that has come far enough to be resumed.
    const slow: Happening = { at, kind: 'service', fault: 'slow', forMs: 2 * minute };
    return [slow, { ...calm, killedAt: { call: 'request', nth: random.between(3, 9) } }, again];
  }
  // The third is that of the bookmark, or of the file with the leads, where the walk was short.
  const killedAt: KillPoint = { call: 'rename', nth: random.pick([1, 2, 3, 3, 4]) };
  return [{ ...calm, killedAt }, again];
}

/** More leads at a time than one receiver opens connections, to an application that does not answer just then. */
function crowded(
  random: Random,
  { lengthMs, receivers, copies, targets }: Omit<Plan, 'happenings'>,
): Pick<Plan, 'crowdAt' | 'happenings'> {
  const isRare = receivers > 1 || copies > 3 || !targets.includes('application');
  if (!random.chance(0.4) || isRare) return { happenings: [] };
  const crowdAt = random.between(0, lengthMs);
  return { crowdAt, happenings: [{ at: crowdAt, kind: 'application', answer: 'hangs', forMs: 5_000 }] };
}

/** A receiver runs for a while with other flags, as an operator tries them: leads wait for what is away. */
function otherFlags(
  random: Random,
  { lengthMs, receivers, targets }: Omit<Plan, 'happenings'>,
): readonly Happening[] {
  if (targets.length === 1 || random.chance(0.4)) return [];
  return Array.from({ length: random.between(1, 2) }, (): Happening => {
    const away = random.pick(targets);
    return {
      at: random.between(0, lengthMs),
      kind: 'flags',
      receiver: random.between(0, receivers - 1),
      forMs: random.between(2, 10) * minute,
      targets: targets.filter((target) => target !== away),
    };
  });
}

/** Leads that are older than what an audit takes for under way, and that a target has not had. */
function outage(random: Random, auditAt: number, targets: readonly TargetKind[]): Happening {
  const at = auditAt - random.between(6, 12) * minute;
  const forMs = auditAt - at + random.between(1_000, minute);
  return targets.includes('application')
    ? { at, kind: 'application', answer: random.pick(['fails', 'absent']), forMs }
    : { at, kind: 'command', end: 'fails', forMs };
}

/** What a walk meets from its first request on. */
function disturbances(random: Random, at: number, style: string): readonly Happening[] {
  const forMs = random.pick([5_000, 20_000, 2 * minute]);
  if (random.chance(0.2)) {
    // So long that the walk gives up, and says why.
    const fault = random.pick(['reset', 'silent', 'slow'] as const);
    return [{ at, kind: 'network', fault, to: 'service', forMs: random.pick([forMs, 10 * minute]) }];
  }
  if (random.chance(0.1)) return [{ at, kind: 'disk', code: random.pick(['ENOSPC', 'EIO']), forMs: 1_000 }];
  const fault = random.pick([
    'down', 'limited', 'cut', 'cut', 'slow', 'deletes', 'deletes', 'creates', 'creates', 'repeats', 'repeats', 'repeats',
    ...(/offset/.test(style) ? Array.from({ length: 6 }, () => 'repeats' as const) : []),
    ...(/cursor|after|has_more/.test(style) ? [] : Array.from({ length: 4 }, () => 'deletes' as const)),
  ] as const); // prettier-ignore
  const service = (one: ServiceFault): Happening => ({ at, kind: 'service', fault: one, forMs });
  // A list that repeats leads while it becomes shorter or longer.
  const other = random.pick(['deletes', 'deletes', 'creates'] as const);
  return fault === 'repeats' && random.chance(0.6) ? [service(fault), service(other)] : [service(fault)];
}
