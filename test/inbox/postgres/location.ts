import {
  type DatabaseLocation,
  databaseLocation,
} from '../../../src/inbox/postgres/connection/address/database-location.ts';

/** The location that a URL names, which holds all there is to know. */
export const locationOf = (url: string): DatabaseLocation =>
  databaseLocation(url, {
    env: { HOME: '/nonexistent' },
    platform: process.platform,
    allowsPlain: true,
    warn: () => undefined,
  });
