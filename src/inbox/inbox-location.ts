import type { DatabaseLocation } from './postgres/connection/address/database-location.ts';

/** Where an inbox is: the path of a file, `:memory:`, or a PostgreSQL database. */
export type InboxLocation = string | DatabaseLocation;
