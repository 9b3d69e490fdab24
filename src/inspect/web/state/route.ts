import { keyFragment } from '../api-client/api.ts';
import { Observable } from './observable.ts';
import { addressOf, filterIn, type ListFilter } from './rows.ts';

/** What the pane beside the list shows; it stands in the fragment, so that a reload shows it again. */
export type Route =
  | { readonly view: 'list' }
  | { readonly view: 'delivery'; readonly seq: number }
  | { readonly view: 'charts' };

function parseRoute(hash: string): Route {
  const [, seq] = /^#\/(\d{1,15})(?:\?|$)/.exec(hash) ?? [];
  if (seq !== undefined) return { view: 'delivery', seq: Number(seq) };
  return { view: /^#\/charts(?:\?|$)/.test(hash) ? 'charts' : 'list' };
}

function pathOf(route: Route): string {
  if (route.view === 'delivery') return `#/${route.seq}`;
  return route.view === 'charts' ? '#/charts' : '#/';
}

const filterAddress = (): string => /\?(.*)$/.exec(location.hash)?.[1] ?? '';

export const route = new Observable<Route>(parseRoute(location.hash));

/**
 * The filter of the list, behind the route: `#/17?verdict=rejected&last=3600000`. What is searched for is a person's data,
 * and never there.
 */
export const listFilter = new Observable<ListFilter>(filterIn(filterAddress()));

const linkedWords = 'q';

/** The words of a search are in the state of the history, which a reload and Back keep and no address shows. */
function wordsIn(state: unknown): string {
  const words: unknown = typeof state === 'object' && state !== null && 'search' in state ? state.search : '';
  return typeof words === 'string' ? words : '';
}

/** What is searched for; a link that was copied brings it in the address, where it does not stay. */
export const searchedText = new Observable<string>(
  new URLSearchParams(filterAddress()).get(linkedWords) ?? wordsIn(history.state),
);

if (new URLSearchParams(filterAddress()).has(linkedWords)) {
  history.replaceState({ search: searchedText.value }, '', fragmentOf(route.value, listFilter.value));
}

export function keepSearch(text: string): void {
  searchedText.value = text;
  history.replaceState({ search: text }, '', location.href);
}

/** Of what is shown, with the words of the search, for somebody with a key of their own. */
export const linkToShown = (): string => {
  const words =
    searchedText.value === '' ? '' : new URLSearchParams({ [linkedWords]: searchedText.value }).toString();
  const fragment = fragmentOf(route.value, listFilter.value);
  const join = fragment.includes('?') ? '&' : '?';
  return `${location.origin}/${fragment}${words === '' ? '' : `${join}${words}`}`;
};

addEventListener('popstate', ({ state }) => {
  if (location.hash.startsWith(keyFragment)) return;
  route.value = parseRoute(location.hash);
  const address = filterAddress();
  if (address !== addressOf(listFilter.value)) listFilter.value = filterIn(address);
  searchedText.value = wordsIn(state);
});

/** A step that Back undoes, unless it only moves from one delivery to the next. */
export function go(next: Route): void {
  const replaces = next.view === 'delivery' && route.value.view === 'delivery';
  if (putAddress(next, listFilter.value, replaces)) route.value = next;
}

/** A step that Back undoes. */
export function goFilter(next: ListFilter, to: Route = route.value): void {
  putAddress(to, next, false);
  listFilter.value = next;
  route.value = to;
}

function fragmentOf(to: Route, filter: ListFilter): string {
  const address = addressOf(filter);
  return `${pathOf(to)}${address === '' ? '' : `?${address}`}`;
}

function putAddress(to: Route, filter: ListFilter, replaces: boolean): boolean {
  const fragment = fragmentOf(to, filter);
  if (fragment === location.hash) return false;
  history[replaces ? 'replaceState' : 'pushState']({ search: searchedText.value }, '', fragment);
  return true;
}
