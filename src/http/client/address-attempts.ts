/**
 * What every connection by a name is made with. Of a host with several addresses, node gives each but the last this long, by
 * default 250 ms: where the others do not answer, one that is further away was never reached (nodejs/node#54359). This is
 * longer than a connection by satellite takes, and leaves time for the next one where a time limit is a second; ms.
 */
export const addressAttempts = { autoSelectFamilyAttemptTimeout: 750 };
