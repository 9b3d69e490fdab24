import { type Examination, keysOf, type SeenLead } from './examination.ts';

/**
 * A value for a parameter, and how an answer shows that the service honoured the parameter. `expected` are the keys of known leads
 * that then have to come: an answer without any of them does harm.
 */
export interface Trial {
  readonly text: string;
  readonly fits: (leads: readonly SeenLead[]) => boolean;
  readonly expected: readonly string[];
  readonly description: string;
}

export interface NameFinding {
  /**
   * `harmful`: the service rejects the parameter, or leaves out the leads that were asked for; `unclear`: the leads changed, and
   * not as the value demands; `unknown`: no answer shows what the parameter does.
   */
  readonly effect: 'honoured' | 'ignored' | 'harmful' | 'unclear' | 'unknown';
  readonly name: string;
  readonly evidence: string;
}

export interface NameSearch {
  readonly query: Readonly<Record<string, string>>;
  /** The leads that come for `query` alone, without the parameter that is looked for. */
  readonly baseline: readonly SeenLead[];
  readonly trials: readonly Trial[];
}

/** An answer that lacks at most so many leads of the baseline is the same page, on which new leads have arrived. */
const mostArrivals = 2;
const leastTogether = 8;
const mostAlone = 4;

const noRequest = 'no request was left for it, or none got through';

/** Names with brackets or operators are not plain: services may take them for fields, or fail at them. */
const isPlain = (name: string): boolean => /^[A-Za-z_]+$/.test(name) && !/_(gte|lte|gt|lt)$/.test(name);

/**
 * Finds the one of several names, the likeliest first, that the service honours. Most services ignore what they do not know, so
 * many names are sent in one request, each with a value of its own as far as there are enough, and the answer shows whose value
 * counted. Names that may do harm are sent last. Where a service fails at unknown names, only the first four are tried, one by one.
 */
export async function findName(
  examination: Examination,
  search: NameSearch,
  names: readonly string[],
): Promise<NameFinding> {
  const { trials } = search;
  const [name = ''] = names;
  if (trials.length === 0) return { effect: 'unknown', name, evidence: 'the leads differ too little' };
  let firstFinding: NameFinding | undefined;
  const plain = names.filter(isPlain);
  const groupSize = Math.max(leastTogether, trials.length);
  const likely = plain.slice(0, groupSize);
  const groups = [likely, plain.slice(groupSize), names.filter((odd) => !isPlain(odd))];
  for (const group of groups.filter(({ length }) => length > 0)) {
    if (group.length > 1 && !examination.isServiceStrict) {
      const outcome = await narrowDown(examination, search, group);
      if (typeof outcome === 'object') return outcome;
      if (outcome === 'unasked') break;
      if (outcome === 'ignored') {
        const evidence = `${group.length} names changed nothing, ${group[0]} among them`;
        firstFinding ??= { effect: 'ignored', name: group[0] ?? '', evidence };
        continue;
      }
      examination.isServiceStrict = group.every(isPlain);
    }
    const singles = examination.isServiceStrict ? names : group;
    for (const single of singles.slice(0, mostAlone)) {
      const finding = await tryAlone(examination, search, single);
      if (finding.effect === 'honoured') return finding;
      firstFinding ??= finding;
    }
    if (examination.isServiceStrict) break;
  }
  return firstFinding ?? { effect: 'unknown', name, evidence: noRequest };
}

/**
 * Sends the names together, and then ever fewer of those whose value counted, until one is left. Where no value counted, returns
 * what the answer shows of all names.
 */
async function narrowDown(
  examination: Examination,
  { query, baseline, trials }: NameSearch,
  names: readonly string[],
): Promise<NameFinding | NoEffect> {
  let candidates = names;
  let shareSent = 1;
  for (;;) {
    const sent = candidates.slice(0, Math.ceil(candidates.length * shareSent));
    const values = new Map(sent.map((name, i) => [name, trials[i % trials.length] as Trial]));
    const texts = Object.fromEntries([...values].map(([name, { text }]) => [name, text]));
    const answer = await examination.ask({ ...query, ...texts });
    const effect = effectOf(answer, baseline, [...values.values()]);
    // Among candidates of which one counts, an answer that shows no effect names those that were not sent.
    if (effect === 'ignored' && sent.length < candidates.length) candidates = candidates.slice(sent.length);
    else if (typeof effect === 'string') return effect;
    else {
      candidates = candidates.filter((name) => values.get(name) === effect);
      const [name = ''] = candidates;
      if (candidates.length === 1) return honoured(name, effect);
    }
    // With `n` values, `n` of `n + 1` names can be told apart by an answer: a value for each, and no effect for the last one.
    shareSent = candidates.length === 1 ? 1 : trials.length / (trials.length + 1);
  }
}

async function tryAlone(
  examination: Examination,
  { query, baseline, trials: [trial] }: NameSearch,
  name: string,
): Promise<NameFinding> {
  const { text, expected, description } = trial as Trial;
  const answer = await examination.ask({ ...query, [name]: text });
  if (answer === undefined) return { effect: 'unknown', name, evidence: noRequest };
  if (answer instanceof Error) {
    const effect = (answer.status ?? 0) < 500 ? 'harmful' : 'unknown';
    return { effect, name, evidence: `${name}=${text} was rejected (${answer.status ?? 'no page'})` };
  }
  const effect = effectOf(answer, baseline, [trial as Trial]);
  if (typeof effect === 'object') return honoured(name, effect);
  if (effect === 'ignored') return { effect, name, evidence: `${name} changed nothing` };
  const { leads } = answer;
  const isExpectedThere = leads.some(({ key }) => expected.includes(key));
  const isLossy = leads.length < baseline.length && expected.length > 0 && !isExpectedThere;
  const evidence = `${name}=${text} brought ${leads.length} leads, and not ${description}`;
  return { effect: isLossy ? 'harmful' : 'unclear', name, evidence };
}

const honoured = (name: string, { text, description }: Trial): NameFinding => ({
  effect: 'honoured',
  name,
  evidence: `${name}=${text} brought ${description}`,
});

/** No value counted. `unclear`: the leads changed, or there was an error; `unasked`: no request was left or got through. */
type NoEffect = 'ignored' | 'unclear' | 'unasked';

function effectOf(
  answer: Awaited<ReturnType<Examination['ask']>>,
  baseline: readonly SeenLead[],
  trials: readonly Trial[],
): Trial | NoEffect {
  if (answer === undefined) return 'unasked';
  if (answer instanceof Error) return 'unclear';
  const honouredTrial = trials.find(({ fits }) => fits(answer.leads));
  if (honouredTrial !== undefined) return honouredTrial;
  const keys = new Set(keysOf(answer.leads));
  const unchangedCount = baseline.filter(({ key }) => keys.has(key)).length;
  return unchangedCount >= Math.max(1, baseline.length - mostArrivals) ? 'ignored' : 'unclear';
}
