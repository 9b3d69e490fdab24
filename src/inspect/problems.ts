import { LeadsError, messageOf } from '../errors.ts';
import type { Answer } from '../http/server/send-answer.ts';
import { rejection, type Rejection } from '../webhook/rejection.ts';
import type { WireProblem } from './wire.ts';

/** Why a request is not answered as it asks. */
export interface Problem extends WireProblem {
  readonly status: number;
}

export const problemAnswer = (
  { status, ...body }: Problem,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({ status, body, headers });

export const badRequest = (problem: string): Problem => ({ status: 400, code: 'bad-request', problem });

export const notThere = (what: string): Problem => ({
  status: 404,
  code: 'not-found',
  problem: `${what} is not in the inbox: it was pruned or erased, or there never was one.`,
});

export const inboxFailed = (error: unknown): Problem => ({
  status: 503,
  code: 'inbox-failed',
  problem: messageOf(error),
  ...(error instanceof LeadsError && error.hint !== undefined ? { hint: error.hint } : {}),
});

/** A problem that is known before the request is complete. */
export const rejectionOf = ({ status, problem }: Problem): Rejection =>
  rejection(reasons[status] ?? 'malformed_request', problem);

/** Answers a request that the HTTP server rejected. */
export const rejectionAnswer = ({ status, detail }: Rejection): Answer =>
  problemAnswer({ status, code: codes[status] ?? 'bad-request', problem: detail });

const reasons: Readonly<Record<number, Rejection['reason']>> = {
  401: 'missing_credential',
  403: 'foreign_host',
  415: 'wrong_content_type',
};

const codes: Readonly<Record<number, WireProblem['code']>> = {
  401: 'no-token',
  403: 'forbidden',
  503: 'busy',
};
