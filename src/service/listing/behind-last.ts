import { windowPosition } from '../pagination/position.ts';
import { positionById } from '../pagination/read-next-page.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import { idNamesBehind } from '../pagination/service-names.ts';
import type { Peek, Peeked } from './fetch-page.ts';
import type { PositionFound } from './walk-state.ts';

/** The first page of a list that names no next one. */
export interface FirstPage {
  /** That it came from. */
  readonly url: URL;
  readonly count: number;
  readonly firstId: string | undefined;
  readonly lastId: string | undefined;
  /** When its last lead was created, where the newest come first; ms. */
  readonly oldest: number | undefined;
  /** The page size that was sent. */
  readonly size: number | undefined;
  /** Whether a lead with this id was on the page. */
  readonly isKnown: (id: string) => boolean;
}

type Found = Exclude<PositionFound, { readonly kind: 'no-position' }> | undefined;

/**
 * What leads behind the last lead in services that know no position: a parameter that takes its id under a less usual
 * name, or the time at which it was created. All names of one kind are asked for in one request; only where they make a
 * difference, one after the other.
 */
export async function probeBehindLast(params: RequestParams, page: FirstPage, peek: Peek): Promise<Found> {
  const { firstId, lastId } = page;
  if (firstId === undefined || lastId === undefined) return undefined;
  const first = { ...page, firstId, lastId };
  for (const names of params.cursor === undefined ? idNamesBehind : []) {
    const found = await probeIds(names, params, first, peek);
    if (found !== undefined) return found;
  }
  return page.oldest === undefined ? undefined : probeWindow(page.oldest, params, first, peek);
}

type IdentifiedPage = FirstPage & { readonly firstId: string; readonly lastId: string };

async function probeIds(
  names: readonly string[],
  params: RequestParams,
  page: IdentifiedPage,
  peek: Peek,
): Promise<Found> {
  const { firstId, lastId, size } = page;
  const holdsOthers = ({ ids }: Ids): boolean =>
    hasUnknown(ids, page) && !ids.includes(firstId) && !ids.includes(lastId);
  const { answer, asked } = await askAll(names, lastId, page, peek);
  if (answer === undefined) return undefined;
  // Nothing is behind the last lead, unless this is a filter that nothing passes: then nothing is behind the first one either.
  if (answer.count === 0) {
    const control = (await askAll(asked, firstId, page, peek)).answer;
    const isHonoured = control !== undefined && control.count > 0 && !control.ids.includes(firstId);
    return isHonoured && !hasUnknown(control.ids, page) ? { kind: 'nothing-behind' } : undefined;
  }
  if (!holdsOthers(answer)) return undefined;
  for (const name of asked) {
    const position = positionById(params, name, lastId);
    const one = await peek(position, size);
    if (one.kind === 'page' && holdsOthers(one)) return { kind: 'next', position };
  }
  return undefined;
}

async function probeWindow(
  oldest: number,
  params: RequestParams,
  page: IdentifiedPage,
  peek: Peek,
): Promise<Found> {
  const { firstId, lastId, size, count } = page;
  const positions = params.untilNames.map((name) => windowPosition(name, oldest, params.dateFormat));
  const isWindow = ({ ids }: Ids): boolean => ids.includes(lastId) && !ids.includes(firstId);
  const { answer, asked } = await askAll(params.untilNames, positions[0]?.cursor ?? '', page, peek);
  if (answer === undefined || !isWindow(answer)) return undefined;
  // Of the page's own leads the last ones came, and none that is not on it.
  if (!hasUnknown(answer.ids, page)) return answer.count < count ? { kind: 'nothing-behind' } : undefined;
  for (const position of positions.filter(({ param }) => asked.includes(param))) {
    const one = await peek(position, size);
    if (one.kind === 'page' && isWindow(one) && hasUnknown(one.ids, page)) return { kind: 'next', position };
  }
  return undefined;
}

type Ids = Pick<Extract<Peeked, { readonly kind: 'page' }>, 'ids' | 'count'>;

const hasUnknown = (ids: Ids['ids'], { isKnown }: FirstPage): boolean =>
  ids.some((id) => id !== undefined && !isKnown(id));

/** The first page's address with all of these parameters; where they are rejected, with the first one alone. */
async function askAll(
  names: readonly string[],
  value: string,
  { url, size }: FirstPage,
  peek: Peek,
): Promise<{ readonly answer: Ids | undefined; readonly asked: readonly string[] }> {
  for (const asked of names.length > 1 ? [names, names.slice(0, 1)] : [names]) {
    if (asked.length === 0) break;
    const address = new URL(url);
    for (const name of asked) address.searchParams.set(name, value);
    const answer = await peek({ style: 'url', url: address.href }, size);
    if (answer.kind === 'page') return { answer, asked };
  }
  return { answer: undefined, asked: [] };
}
