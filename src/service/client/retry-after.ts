/**
 * How long `Retry-After` (RFC 9110, section 10.2.3) asks to wait from now, in milliseconds: seconds, or a date, which
 * is held against our clock and against the service's own `Date`, whichever asks for more. Undefined when it is
 * missing or neither.
 */
export function retryAfterMs(
  value: string | undefined,
  now: number,
  serviceDate: string | undefined,
): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // A bare Date.parse would take "-5" for the month of May.
  const at = /[a-z]{3}|T\d/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const theirs = Date.parse(serviceDate ?? '');
  return Math.max(0, at - now, Number.isNaN(theirs) ? 0 : at - theirs);
}
