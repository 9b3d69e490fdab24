/**
 * Where a page begins: a plain JSON value that can be stored in a checkpoint and handed back to `listLeads`.
 * A position that is a number names the record before it (`after`), so that the next answer shows whether the
 * service's list has shifted since.
 */
export type Position = Place & {
  /** Records requested per page: places counted in pages mean something with the same size only. */
  readonly size?: number | undefined;
  /** What the totals of the pages so far say, so that a resumed walk can go on comparing. */
  readonly totals?: TotalsSoFar | undefined;
};

export interface TotalsSoFar {
  /** Different leads met up to here. */
  readonly met: number;
  /** Leads in all, as the first page and the last one say. */
  readonly first: number;
  readonly last: number;
  /** When the first page came: milliseconds since the epoch. */
  readonly began?: number | undefined;
}

type Place =
  | { readonly style: 'start' }
  /** A `Link` header or a next URL in the body; absolute, of the service's own origin. */
  | { readonly style: 'url'; readonly url: string; readonly after?: string | undefined }
  | {
      readonly style: 'cursor';
      readonly param: string;
      readonly cursor: string;
      /** The cursor is the id of the last lead, or it is a plain count of pages or of records. */
      readonly is?: 'id' | 'page' | 'offset' | undefined;
      readonly after?: string | undefined;
    }
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

/** The record in front of a position, if it is known. */
export const afterOf = (position: Position): string | undefined =>
  position.style === 'start' ? undefined : position.after;
