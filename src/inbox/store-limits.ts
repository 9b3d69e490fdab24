/** Rejected deliveries that are kept: the newest. */
export const maxRejectedKept = 1000;

/** Of a rejected delivery's body, in bytes. */
export const maxRejectedBody = 16 * 1024;

/** Expired nonces that are removed for each one that is added: they become fewer faster than they become more. */
export const noncesRemovedPerAdded = 2;

/** Repeats of one id that are kept, the newest: so many with another payload than the first one, and so many with the same. */
export const maxRepeatsKept = 100;

/** Of one delivery, the newest: attempts to hand its lead to a target whose results are kept. */
export const maxResultsKept = 100;

/** Payloads that are compared field by field in one transaction, in bytes: others wait for it to end. */
export const maxComparedBytes = 256 * 1024;
