export const paginationStyles = ['auto', 'link', 'cursor', 'page', 'offset', 'before', 'none'] as const;
export const totalMeanings = ['auto', 'estimate'] as const;
export const dateFormats = ['iso', 'unix', 'unix-ms'] as const;

export type ParameterName =
  'limit' | 'status' | 'category' | 'since' | 'until' | 'cursor' | 'page' | 'offset' | 'before';

/**
 * How one service names what the specification leaves open, as the user wrote it: the members of a profile under `api`, or
 * an option of the library. What is missing is found out from the service's answers.
 */
export interface Dialect {
  /** The path of the list operation; it may carry a query. */
  readonly path?: string | undefined;
  /** Query parameters: a name, or null for "do not send". */
  readonly params?: { readonly [K in ParameterName]?: string | null | undefined } | undefined;
  readonly pagination?: (typeof paginationStyles)[number] | undefined;
  /** JSON Pointer to the array of leads, or `auto`. */
  readonly items?: string | undefined;
  /** JSON Pointer to the lead inside each element of that array, or `auto`. */
  readonly item?: string | undefined;
  /** Another name of the member `id` of a lead. */
  readonly id?: string | undefined;
  /** JSON Pointer to what names the next page, or `auto`. */
  readonly next?: string | undefined;
  /** Top-level field with the delivery status, or `auto`. */
  readonly statusField?: string | undefined;
  /** Sent with every request to the service beside the key, such as those that name a version; never `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly pageSize?: number | undefined;
  /** The service names each further page. */
  readonly nextSeen?: boolean | undefined;
  /** `estimate` where the service may count more leads than it lists. */
  readonly total?: (typeof totalMeanings)[number] | undefined;
  readonly dateFormat?: (typeof dateFormats)[number] | undefined;
}
