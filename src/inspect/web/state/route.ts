import { keyFragment } from '../api-client/api.ts';
import { Observable } from './observable.ts';

/** What the pane beside the list shows; it stands in the fragment, so that a reload shows it again. */
export type Route =
  | { readonly view: 'list' }
  | { readonly view: 'delivery'; readonly seq: number }
  | { readonly view: 'compare'; readonly left: number; readonly right: number }
  | { readonly view: 'charts' };

function parseRoute(hash: string): Route {
  const [, left, right] = /^#\/(\d{1,15})(?:\/(\d{1,15}))?$/.exec(hash) ?? [];
  if (left !== undefined && right !== undefined) {
    return { view: 'compare', left: Number(left), right: Number(right) };
  }
  if (left !== undefined) return { view: 'delivery', seq: Number(left) };
  return { view: hash === '#/charts' ? 'charts' : 'list' };
}

function fragmentOf(route: Route): string {
  if (route.view === 'delivery') return `#/${route.seq}`;
  if (route.view === 'compare') return `#/${route.left}/${route.right}`;
  return route.view === 'charts' ? '#/charts' : '#/';
}

export const route = new Observable<Route>(parseRoute(location.hash));

addEventListener('popstate', () => {
  if (!location.hash.startsWith(keyFragment)) route.value = parseRoute(location.hash);
});

/** A step that Back undoes, unless it only moves from one delivery to the next. */
export function go(next: Route): void {
  const fragment = fragmentOf(next);
  if (fragment === location.hash) return;
  const replaces = next.view === 'delivery' && route.value.view === 'delivery';
  history[replaces ? 'replaceState' : 'pushState'](null, '', fragment);
  route.value = next;
}
