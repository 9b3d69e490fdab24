import * as z from 'zod/mini';
import { dateFormats, paginationStyles } from './setting-keys.ts';

const parameter = z.nullable(z.string().check(z.minLength(1)));

/** The keys of a profile under `api`: how one service names what the specification leaves open. */
export const dialectSchema = z.strictObject({
  /** Of the list operation; may carry a query of its own. */
  path: z.optional(z.string().check(z.startsWith('/'))),
  /** Query parameters: a name, or null for "do not send". */
  params: z.optional(
    z.strictObject({
      limit: z.optional(parameter),
      status: z.optional(parameter),
      category: z.optional(parameter),
      since: z.optional(parameter),
      until: z.optional(parameter),
      cursor: z.optional(parameter),
      page: z.optional(parameter),
      offset: z.optional(parameter),
    }),
  ),
  pagination: z.optional(z.enum(paginationStyles)),
  /** JSON Pointer to the array of leads, or `auto`. */
  items: z.optional(z.string()),
  /** JSON Pointer to what names the next page, or `auto`. */
  next: z.optional(z.string()),
  /** Top-level field with the delivery status, or `auto`. */
  statusField: z.optional(z.string()),
  pageSize: z.optional(z.int().check(z.positive())),
  dateFormat: z.optional(z.enum(dateFormats)),
});

/** As the user wrote it: what is missing is found out from the service's answers. */
export type Dialect = z.output<typeof dialectSchema>;
