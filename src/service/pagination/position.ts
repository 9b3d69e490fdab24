/**
 * Where a page begins: a plain JSON value that can be stored in a checkpoint and handed back to `listLeads`.
 * Page and offset positions name the record before them (`after`), so that a resumed walk can see whether the
 * service's list has shifted since.
 */
export type Position = Place & {
  /** Records asked for per page: places counted in pages mean something with the same size only. */
  readonly size?: number | undefined;
};

type Place =
  | { readonly style: 'start' }
  /** A `Link` header or a next URL in the body; absolute, of the service's own origin. */
  | { readonly style: 'url'; readonly url: string }
  | { readonly style: 'cursor'; readonly param: string; readonly cursor: string }
  | {
      readonly style: 'page';
      readonly param: string;
      readonly page: number;
      readonly after?: string | undefined;
    }
  | {
      readonly style: 'offset';
      readonly param: string;
      readonly offset: number;
      readonly after?: string | undefined;
    };

/** Pages are the same when they begin in the same place, whatever is known of the record before them. */
export function keyOf(position: Position): string {
  switch (position.style) {
    case 'start':
      return 'start';
    case 'url':
      return `url ${position.url}`;
    case 'cursor':
      return `cursor ${position.cursor}`;
    case 'page':
      return `page ${position.page}`;
    case 'offset':
      return `offset ${position.offset}`;
  }
}
