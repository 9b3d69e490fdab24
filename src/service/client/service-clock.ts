type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The service's `Date` against the clock here, in milliseconds; positive: the service is ahead. Undefined without one. */
export function driftOf(headers: Headers, receivedAt: number): number | undefined {
  const theirs = Date.parse(String(headers['date']));
  // A cache passes on the `Date` of the service with the time since then (RFC 9111, section 5.1), in seconds.
  const age = /^\d{1,9}$/.exec(String(headers['age']))?.[0] ?? '0';
  // In the middle of the second that it names.
  return Number.isNaN(theirs) ? undefined : theirs + Number(age) * 1000 + 500 - receivedAt;
}
