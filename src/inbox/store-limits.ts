/** Rejected deliveries that are kept: the newest. */
export const maxRejectedKept = 1000;

/** Of a rejected delivery's body, in bytes. */
export const maxRejectedBody = 16 * 1024;

/** Expired nonces that are removed for each one that is added: they become fewer faster than they become more. */
export const noncesRemovedPerAdded = 2;
