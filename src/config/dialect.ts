import * as z from 'zod/mini';
import { dateFormats, paginationStyles } from './setting-keys.ts';

/** One schema for all that are alike: every start makes them, and each takes time. */
const parameter = z.optional(z.nullable(z.string().check(z.minLength(1))));
const text = z.optional(z.string());

/** The keys of a profile under `api`: how one service names what the specification leaves open. */
export const dialectSchema = z.strictObject({
  /** Of the list operation; may carry a query of its own. */
  path: z.optional(z.string().check(z.startsWith('/'))),
  /** Query parameters: a name, or null for "do not send". */
  params: z.optional(
    z.strictObject({
      limit: parameter,
      status: parameter,
      category: parameter,
      since: parameter,
      until: parameter,
      cursor: parameter,
      page: parameter,
      offset: parameter,
    }),
  ),
  pagination: z.optional(z.enum(paginationStyles)),
  /** JSON Pointer to the array of leads, or `auto`. */
  items: text,
  /** JSON Pointer to the lead inside each element of that array, or `auto`. */
  item: text,
  /** Another name of the member `id` of a lead. */
  id: z.optional(z.string().check(z.minLength(1))),
  /** JSON Pointer to the way on, or `auto`. */
  next: text,
  /** Top-level field with the delivery status, or `auto`. */
  statusField: text,
  pageSize: z.optional(z.int().check(z.positive())),
  dateFormat: z.optional(z.enum(dateFormats)),
});

/** As the user wrote it: what is missing is found out from the service's answers. */
export type Dialect = z.output<typeof dialectSchema>;
