/** What the answer to several parameters shows: the value that counted, or why none shows. */
export type Shown<V> = { readonly value: V } | 'nothing' | 'unclear' | 'unasked';

export type FoundName<V> = { readonly name: string; readonly value: V } | Exclude<Shown<V>, object>;

/** Some services take names with brackets and operators for fields, or fail at them. */
export const isPlain = (name: string): boolean =>
  /^[A-Za-z_]+$/.test(name) && !/_(gte|lte|gt|lt)$/.test(name);

/** So many names are sent first where there are fewer values: the usual names come first. */
const usual = 8;
/** Of names that spoil an answer together, so many are tried one by one. */
const mostAlone = 3;

type Ask<V> = (sent: ReadonlyMap<string, V>) => Promise<Shown<V>>;

/**
 * Finds the one of many names that a service understands, by sending many of them at once, each with a value of its own
 * where there are enough: the answer shows which value counted. For services that ignore what they do not know.
 */
export async function findName<V>(
  names: readonly string[],
  values: readonly V[],
  ask: Ask<V>,
): Promise<FoundName<V>> {
  const plain = names.filter(isPlain);
  const many = Math.max(usual, values.length);
  const groups = [plain.slice(0, many), plain.slice(many), names.filter((name) => !isPlain(name))];
  for (const group of groups) {
    let found = group.length === 0 ? 'nothing' : await narrow(group, values, ask);
    if (found === 'unclear' && group.length > 1)
      found = await findAlone(group.slice(0, mostAlone), values[0] as V, ask);
    if (found !== 'nothing') return found;
  }
  return 'nothing';
}

/** Finds the name by sending one after the other. */
export async function findAlone<V>(names: readonly string[], value: V, ask: Ask<V>): Promise<FoundName<V>> {
  for (const name of names) {
    const shown = await ask(new Map([[name, value]]));
    if (typeof shown === 'object') return { name, value };
    if (shown === 'unasked') return shown;
  }
  return 'unclear';
}

async function narrow<V>(names: readonly string[], values: readonly V[], ask: Ask<V>): Promise<FoundName<V>> {
  let candidates = names;
  let counting = values[0] as V;
  for (let isAmong = false; candidates.length > 1 || !isAmong; isAmong = true) {
    // Once it is known that one of them counts, that none of those sent did tells as much as a value.
    const share = isAmong ? values.length / (values.length + 1) : 1;
    const sent = new Map<string, V>();
    for (const [i, name] of candidates.slice(0, Math.ceil(candidates.length * share)).entries())
      sent.set(name, values[isAmong ? i % values.length : likeliestApart(i, values.length)] as V);
    const shown = await ask(sent);
    if (shown === 'nothing' && sent.size < candidates.length) candidates = candidates.slice(sent.size);
    else if (typeof shown === 'string') return shown;
    else {
      counting = shown.value;
      candidates = candidates.filter((name) => sent.get(name) === counting);
    }
  }
  const [name] = candidates;
  return name === undefined ? 'unclear' : { name, value: counting };
}

/** The likeliest name comes first, and has a value of its own wherever there are two. */
const likeliestApart = (i: number, many: number): number =>
  i === 0 || many === 1 ? 0 : 1 + ((i - 1) % (many - 1));
