/**
 * What every connection by a name is made with. Of a host with several addresses, node gives each but the last this long, by
 * default 250 ms: where the others do not answer, one that is further away was never reached (nodejs/node#54359). A second is
 * longer than a connection by satellite takes, and short for those whose first address is a dead end; ms.
 */
export const addressAttempts = { autoSelectFamilyAttemptTimeout: 1000 };
