import type { HttpAnswer } from '../../http/client/http-client.ts';
import { passes } from './network-failure.ts';

type AnswerHead = Pick<HttpAnswer, 'status' | 'headers'>;

/** The kind decides the exit code, and whether another try may help. `passing`: the service fails, and may not fail the next time. */
export type FailureKind = 'gateway' | 'key' | 'rate-limit' | 'passing' | 'other';

/** The kind of an answer whose status says that it failed. `text`: the service's message; `body`: its first bytes as text. */
export function kindByStatus(
  { status, headers }: AnswerHead,
  text: string | undefined,
  body: string,
): FailureKind {
  if (isGatewayAnswer({ status, headers }, body)) return 'gateway';
  const kind = kindOfStatus(status);
  // A refusal is about the key or a rate limit. With another status, 'limit exceeded' may speak of a size.
  const isLimit = kind === 'key' ? isLimitText(text) || asksToWait(headers) : isCertainLimitText(text);
  return isLimit ? 'rate-limit' : kind;
}

/** The kind of a failure in the body of a 200. `code`: a number below 600 in the body, which may be a status of HTTP. */
export function kindByText(text = '', code = 0): FailureKind {
  const kind = kindOfStatus(code);
  const words = asWords(text);
  if (kind === 'rate-limit' || isLimitText(text)) return 'rate-limit';
  if (kind === 'key' || isKeyText(words)) return 'key';
  return passingText.test(words) ? 'passing' : kind;
}

function kindOfStatus(status: number): FailureKind {
  if (status === 429) return 'rate-limit';
  if (status === 401 || status === 403) return 'key';
  return passes(status) ? 'passing' : 'other';
}

/** `RATE_LIMIT` and `RateLimit` as `rate limit`. */
const asWords = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();

const certainLimit =
  /rate ?limit|too many (api )?(requests|calls|concurrent)|throttl|quota (was |is |has been )?exceeded|exceeded .{0,40}quota|(request|call|usage|query|api|daily|hourly|monthly) limit/;
const likelyLimit =
  /limit (has been |was |is )?(reached|exceeded|hit)|(reached|exceed(ed|s|ing)?|hit|over)( [\w']+){0,4} limits?\b|max(imum)? rate|requests? per (second|minute|hour|day)|too (frequent|fast|often)|slow ?down|quota|^limit( \(\w+\))?$|error code: 1015/;
/** The page is too large: it is asked for smaller. */
const pageSize =
  /page ?size|per ?page|page limit|limit (must|should|cannot|may not|exceeds)|max(imum)? (page|limit)/;

const isCertainLimitText = (text: string | undefined): boolean => certainLimit.test(asWords(text ?? ''));

const isLimitText = (text: string | undefined): boolean =>
  isCertainLimitText(text) || (likelyLimit.test(asWords(text ?? '')) && !pageSize.test(asWords(text ?? '')));

const asksToWait = (headers: AnswerHead['headers']): boolean =>
  headers['retry-after'] !== undefined ||
  ['x-ratelimit-remaining', 'x-rate-limit-remaining', 'ratelimit-remaining'].some(
    (name) => headers[name] === '0',
  );

const credential =
  'api ?key|access key|token|credentials?|signature|session|login|jwt|bearer|authentication|authorization';
const wrong =
  'invalid|expired?|revoked|missing|incorrect|wrong|unknown|bad|denied|inactive|disabled|required|failed|not (valid|recogni[sz]ed|found|active)';
const keyText = new RegExp(
  [
    String.raw`\b(${credential})\b.{0,40}\b(${wrong})\b|\b(${wrong}|no)\b.{0,30}\b(${credential})\b`,
    String.raw`\b(invalid|expired|wrong|bad|revoked) key\b`,
    '(un|not )(authori[sz]ed|authenticated)|(access|permission) denied|forbidden|invalid grant|insufficient (scope|permission)',
  ].join('|'),
);
const pageToken = /(page|next|cursor|continuation|sync|skip|scroll) ?(token|key)/;
const isKeyText = (text: string): boolean => keyText.test(text) && !pageToken.test(text);

const passingText =
  /time ?out|timed out|temporar|unavailable|try again|internal (server )?error|server error|overload|busy|maintenance|deadlock|connection (was )?(refused|reset|lost|closed)|bad gateway/;

/**
 * Whether a gateway, firewall or bot check answered in place of the service; known are Cloudflare, Akamai, Imperva, AWS, Vercel,
 * Sucuri, DataDome, HUMAN, F5 and FortiWeb. With 401 or 403 any HTML page counts, since an API refuses a key in JSON.
 */
export function isGatewayAnswer({ status, headers }: AnswerHead, body: string): boolean {
  if (gatewayHeaders.some((name) => headers[name] !== undefined)) return true;
  // PHP declares JSON as HTML unless the application sets the type.
  const isHtml = /html/i.test(headers['content-type'] ?? '') && /^\s*[^\s{["]/.test(body);
  const isPage = isHtml || /^\s*<(!doctype html|html)/i.test(body);
  // RFC 6585, section 6: a network that asks for a login.
  if (status === 511) return true;
  if (status === 401 || status === 403) return isPage || challengeData.test(body);
  // These statuses are also used for challenges. Other pages with them may be the service's own.
  return isPage && [200, 202, 405, 406, 503].includes(status) && challengePage.test(body);
}

const gatewayHeaders = ['cf-mitigated', 'x-amzn-waf-action', 'x-vercel-mitigated', 'x-sucuri-block'];
/** Cloudflare's error 1015 is a rate limit (`likelyLimit`); its other codes from 1000 to 1099 are refusals. */
const challengeData =
  /captcha|error code: 10(?!15)\d\d|cloudflare_error|"appId"\s*:\s*"PX|request (was )?blocked/i;
const challengePage =
  /just a moment|attention required!|captcha|challenge-platform|incapsula|<title>request rejected|support id is|sucuri|web page blocked|ddos-guard/i;
