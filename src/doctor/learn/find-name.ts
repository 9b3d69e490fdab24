import type { Asker, Query, Seen } from './asker.ts';
import { keysOf, type SeenLead } from './seen-leads.ts';

/** A value for a parameter, and what an answer looks like where the parameter is honoured. */
export interface Trial {
  readonly text: string;
  /** Whether these leads are what the value asks for. */
  readonly fits: (leads: readonly SeenLead[]) => boolean;
  /** Keys of known leads that have to come: an answer without any of them does harm. */
  readonly expected: readonly string[];
  /** The leads that should come, in a sentence. */
  readonly wanted: string;
}

/** The effect of a name; `evidence` says what the answers showed. */
export interface NameFinding {
  /** `harmful`: the service rejects it, or leaves out what is asked for; `unknown`: nothing shows what it does. */
  readonly effect: 'honoured' | 'ignored' | 'harmful' | 'unclear' | 'unknown';
  readonly name: string;
  readonly evidence: string;
}

/** The values that names are tried with, and the answer that comes without them. */
export interface NameSearch {
  readonly asker: Asker;
  readonly query: Query;
  readonly without: readonly SeenLead[];
  readonly trials: readonly Trial[];
}

/** At most so many leads arrive between two answers. */
const arrivals = 2;
/** The usual names come first: at least so many are sent together. */
const together = 8;
/** At most so many names are tried one by one. */
const alone = 4;

const noRequest = 'no request was left for it, or none got through';

/** Services may take names with brackets or operators for fields, or fail at them. */
const isPlain = (name: string): boolean => /^[A-Za-z_]+$/.test(name) && !/_(gte|lte|gt|lt)$/.test(name);

/**
 * Finds the one of several names that the service honours: many are sent at once, each with a value of its own as far as
 * there are enough, since most services ignore what they do not know; elsewhere one after the other.
 */
export async function findName(search: NameSearch, names: readonly string[]): Promise<NameFinding> {
  const { asker, trials } = search;
  const [name = ''] = names;
  if (trials.length === 0) return { effect: 'unknown', name, evidence: 'the leads differ too little' };
  const plain = names.filter(isPlain);
  const many = Math.max(together, trials.length);
  const groups = [plain.slice(0, many), plain.slice(many), names.filter((odd) => !isPlain(odd))];
  let finding: NameFinding | undefined;
  for (const group of groups.filter(({ length }) => length > 0)) {
    const isTogether = group.length > 1 && !asker.isStrict;
    const outcome = isTogether ? await narrow(search, group) : 'unclear';
    if (typeof outcome === 'object') return outcome;
    asker.isStrict ||= isTogether && outcome === 'unclear' && group.every(isPlain);
    const singles = asker.isStrict ? names : group;
    for (const single of outcome === 'unclear' ? singles.slice(0, alone) : []) {
      const tried = await tryAlone(search, single);
      if (tried.effect === 'honoured') return tried;
      finding ??= tried;
    }
    const evidence = `${group.length} names changed nothing, ${group[0]} among them`;
    if (outcome === 'ignored') finding ??= { effect: 'ignored', name: group[0] ?? '', evidence };
    if (outcome === 'unasked' || asker.isStrict) break;
  }
  return finding ?? { effect: 'unknown', name, evidence: noRequest };
}

/** Sends names together until one of them is known to count. */
async function narrow(
  { asker, query, without, trials }: NameSearch,
  names: readonly string[],
): Promise<NameFinding | Exclude<Effect, Trial>> {
  let candidates = names;
  let share = 1;
  for (;;) {
    const sent = candidates.slice(0, Math.ceil(candidates.length * share));
    const values = new Map(sent.map((name, i) => [name, trials[i % trials.length] as Trial]));
    const texts = Object.fromEntries([...values].map(([name, { text }]) => [name, text]));
    const effect = effectOf(await asker.ask({ ...query, ...texts }), without, [...values.values()]);
    // Among candidates of which one counts, an answer that shows no effect names those that were not sent.
    if (effect === 'ignored' && sent.length < candidates.length) candidates = candidates.slice(sent.length);
    else if (typeof effect === 'string') return effect;
    else {
      candidates = candidates.filter((name) => values.get(name) === effect);
      const [name = ''] = candidates;
      if (candidates.length === 1) return honoured(name, effect);
    }
    share = candidates.length === 1 ? 1 : trials.length / (trials.length + 1);
  }
}

async function tryAlone({ asker, query, without, trials }: NameSearch, name: string): Promise<NameFinding> {
  const [trial] = trials as [Trial];
  const asked = `${name}=${trial.text}`;
  const seen = await asker.ask({ ...query, [name]: trial.text });
  if (seen === undefined) return { effect: 'unknown', name, evidence: noRequest };
  if (seen instanceof Error) {
    const effect = (seen.status ?? 0) < 500 ? 'harmful' : 'unknown';
    return { effect, name, evidence: `${asked} was rejected (${seen.status ?? 'no page'})` };
  }
  const effect = effectOf(seen, without, [trial]);
  if (typeof effect === 'object') return honoured(name, trial);
  if (effect === 'ignored') return { effect, name, evidence: `${name} changed nothing` };
  const { leads } = seen;
  const isLossy =
    leads.length < without.length &&
    trial.expected.length > 0 &&
    !leads.some(({ key }) => trial.expected.includes(key));
  const evidence = `${asked} brought ${leads.length} leads, and not ${trial.wanted}`;
  return { effect: isLossy ? 'harmful' : 'unclear', name, evidence };
}

const honoured = (name: string, { text, wanted }: Trial): NameFinding => ({
  ...{ effect: 'honoured', name },
  evidence: `${name}=${text} brought ${wanted}`,
});

type Effect = Trial | 'ignored' | 'unclear' | 'unasked';

/** The trial that an answer fits, or the reason why it fits no trial. */
function effectOf(seen: Seen, without: readonly SeenLead[], trials: readonly Trial[]): Effect {
  if (seen === undefined) return 'unasked';
  if (seen instanceof Error) return 'unclear';
  const trial = trials.find(({ fits }) => fits(seen.leads));
  if (trial !== undefined) return trial;
  const keys = new Set(keysOf(seen.leads));
  const shared = without.filter(({ key }) => keys.has(key)).length;
  return shared >= Math.max(1, without.length - arrivals) ? 'ignored' : 'unclear';
}
