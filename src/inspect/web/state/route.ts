import { keyFragment } from '../api-client/api.ts';
import { Observable } from './observable.ts';
import { addressOf, filterIn, type ListFilter } from './rows.ts';

/** What the pane beside the list shows; it stands in the fragment, so that a reload shows it again. */
export type Route =
  | { readonly view: 'list' }
  | { readonly view: 'delivery'; readonly seq: number }
  | { readonly view: 'chart' };

function parseRoute(hash: string): Route {
  const [, seq] = /^#\/(\d{1,15})(?:\?|$)/.exec(hash) ?? [];
  if (seq !== undefined) return { view: 'delivery', seq: Number(seq) };
  return { view: /^#\/chart(?:\?|$)/.test(hash) ? 'chart' : 'list' };
}

const filterAddress = (): string => /\?(.*)$/.exec(location.hash)?.[1] ?? '';

export const route = new Observable<Route>(parseRoute(location.hash));

/** The filter of the list, behind the route: `#/17?verdict=rejected&last=3600000`. */
export const listFilter = new Observable<ListFilter>(filterIn(filterAddress(), ''));

addEventListener('popstate', () => {
  if (location.hash.startsWith(keyFragment)) return;
  route.value = parseRoute(location.hash);
  const address = filterAddress();
  if (address !== addressOf(listFilter.value)) listFilter.value = filterIn(address, listFilter.value.text);
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

function putAddress(to: Route, filter: ListFilter, replaces: boolean): boolean {
  const address = addressOf(filter);
  const path = to.view === 'delivery' ? to.seq : to.view === 'chart' ? 'chart' : '';
  const fragment = `#/${path}${address === '' ? '' : `?${address}`}`;
  if (fragment === location.hash) return false;
  history[replaces ? 'replaceState' : 'pushState'](null, '', fragment);
  return true;
}
