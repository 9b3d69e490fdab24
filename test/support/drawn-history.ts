import { listLeads } from '../../src/service/listing.ts';
import { seeded } from './faulty-service.ts';
import { pageAt, type PageOptions, type Style, styles } from './moving-service.ts';
import { serviceInMemory } from './service-in-memory.ts';

/** What happens to a list between two requests. */
export type Movement =
  | 'nothing'
  | 'arrive'
  | 'vanish'
  /** A lead goes, and at one of the next requests another comes, so that the places behind both are as they were. */
  | 'replace'
  /** Leads arrive, and go again. */
  | 'come and go'
  | 'move'
  /** A lead leaves the filter that is asked for, and may come back to its place. */
  | 'leave and return'
  | 'all';

export interface History {
  readonly seed: number;
  readonly page: PageOptions;
  readonly leads: number;
  readonly movement: Movement;
  readonly concurrency: number;
  readonly pageSize: number | undefined;
  /** How many changes there are at most, and how likely one is before a request. */
  readonly changes: number;
  readonly likelihood: number;
  /** Where leads arrive: in front, or anywhere. */
  readonly arrivesInFront: boolean;
  /** What the list is sorted by; undefined: by nothing, and all leads have one time. */
  readonly order?: Order | undefined;
  readonly random: () => number;
}

/** By the time of creation, which some leads share or none; or by the time of the last change. */
export type Order = 'newest first' | 'newest first, in groups' | 'oldest first' | 'changed last first';

export interface Walked {
  readonly isComplete: boolean;
  /** Why it is unproven. */
  readonly reason: string | undefined;
  /** Leads that were there from the first request to the last, and were not met. */
  readonly lost: readonly string[];
  readonly hasMoved: boolean;
  readonly requests: number;
  /** Addresses, and the ids that came, for a person who reads a history. */
  readonly log: readonly string[];
}

const movements: readonly Movement[] = [
  ...['nothing', 'arrive', 'vanish', 'replace', 'replace', 'come and go', 'move', 'leave and return', 'all'],
] as Movement[];
const behinds = ['empty', 204, 404, 400] as const;

/** One history of a list, with the walk that reads it: the same for the same seed. */
export function drawHistory(seed: number, only: readonly Style[] = styles): History {
  const random = seeded(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  // A third of them have pages that are long enough to overlap.
  const cap = random() < 0.33 ? 30 + Math.floor(random() * 70) : 2 + Math.floor(random() ** 2 * 28);
  const page: PageOptions = {
    style: pick(only),
    cap,
    behind: pick(behinds),
    honoursLimit: random() < 0.5,
  };
  return {
    ...{ seed, page, leads: 1 + Math.floor(random() * cap * (cap < 30 ? 8 : 5)), movement: pick(movements) },
    concurrency: random() < 0.3 ? 4 : 1,
    pageSize: random() < 0.1 ? 1 + Math.floor(random() * cap) : undefined,
    changes: pick([1, 2, 3, 5, 1000]),
    likelihood: pick([0.1, 0.3, 0.6, 0.9]),
    arrivesInFront: random() < 0.7,
    random,
  };
}

/** A list that changes as its history says; `alter` is called before each request but the first. */
export function movingList({ leads, movement, changes, likelihood, random, order, ...history }: History) {
  const arrivesInFront = order !== undefined || history.arrivesInFront;
  const pick = (below: number): number => Math.floor(random() * below);
  const list = Array.from({ length: leads }, (_, i) => `l${i}`);
  const isRising = order === 'oldest first';
  const first = [...list];
  /** When each lead was created, in steps. */
  const created = new Map(list.map((id, i) => [id, isRising ? i : -i]));
  /** Where each id stands for a cursor that names an id: that order never changes. */
  const born = new Map(list.map((id, i) => [id, i]));
  const gone = new Set<string>();
  /** Leads that do not pass the filter now. */
  const away: string[] = [];
  const left = new Set<string>();
  let [changed, isReplacing] = [0, false];
  const arrive = (): void => {
    const at = isRising ? list.length : arrivesInFront ? 0 : pick(list.length + 1);
    const id = `new${born.size}`;
    created.set(id, born.size);
    const after = at === 0 ? -born.size : (born.get(list[at - 1] ?? '') ?? 0);
    const before = born.get(list[at] ?? '') ?? after + 2;
    born.set(id, at === 0 ? Math.min(after, before - 1) : (after + before) / 2);
    list.splice(at, 0, id);
  };
  const vanish = (at: number): void => {
    if (list.length > 1 && at >= 0) for (const id of list.splice(at, 1)) gone.add(id);
  };
  const leave = (): void => vanish(list.findIndex((id) => id.startsWith('new')));
  const move = (): void => {
    const [id = ''] = list.splice(pick(list.length), 1);
    if (order === 'changed last first' || random() < 0.5) list.unshift(id);
    else list.push(id);
  };
  const once: Readonly<Record<Movement, () => void>> = {
    nothing: () => undefined,
    arrive,
    vanish: () => vanish(pick(list.length)),
    replace: () => {
      if (isReplacing) arrive();
      else vanish(pick(list.length));
      isReplacing = !isReplacing;
    },
    'come and go': () => {
      const act = random();
      if (act < 0.4) arrive();
      else if (act < 0.7) leave();
      else vanish(pick(list.length));
    },
    move,
    'leave and return': () => {
      const [id] = random() < 0.5 ? away.splice(0, 1) : [];
      if (id === undefined)
        for (const one of list.splice(pick(list.length), list.length > 1 ? 1 : 0)) {
          away.push(one);
          left.add(one);
        }
      else {
        const place = list.findIndex((other) => (born.get(other) ?? 0) > (born.get(id) ?? 0));
        list.splice(place < 0 ? list.length : place, 0, id);
      }
    },
    all: () => {
      const act = random();
      if (act < 0.3) arrive();
      else if (act < 0.5) leave();
      else if (act < 0.8) vanish(pick(list.length));
      else move();
    },
  };
  const alter = (): void => {
    const isDue = isReplacing ? random() < 0.7 : random() < likelihood;
    if (movement === 'nothing' || !isDue || (changed >= changes && !isReplacing)) return;
    changed += 1;
    once[movement]();
  };
  const record = (id: string): object => {
    const step = (created.get(id) ?? 0) / (order === 'newest first, in groups' ? 4 : 1);
    const time = order === undefined ? 0 : Math.floor(step) * 1000;
    return { id, createdAt: new Date(Date.UTC(2026) + time).toISOString() };
  };
  return {
    list,
    born,
    record,
    alter,
    stayed: () => first.filter((id) => !gone.has(id) && !left.has(id)),
    hasMoved: () => changed > 0,
  };
}

export async function walkHistory(history: History): Promise<Walked> {
  const { list, born, record, alter, stayed, hasMoved } = movingList(history);
  const log: string[] = [];
  const service = serviceInMemory((url) => {
    if (log.length > 0) alter();
    const page = pageAt(url, list, born, { ...history.page, record });
    log.push(`${url.search} ${page.ids.join(' ')}`);
    return page;
  });
  const met = new Set<string | undefined>();
  let reason: string | undefined;
  const pages = listLeads(service, {
    ...{ query: {}, concurrency: history.concurrency, pageSize: history.pageSize },
    prefetch: history.order !== undefined,
    acceptUnproven: (end) => {
      reason = end.reason.kind;
    },
  });
  for await (const { leads } of pages) for (const { id } of leads) met.add(id);
  return {
    isComplete: pages.completion?.kind === 'complete',
    ...{
      reason,
      lost: stayed().filter((id) => !met.has(id)),
      hasMoved: hasMoved(),
      requests: log.length,
      log,
    },
  };
}
