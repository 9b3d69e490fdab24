import { LeadsError, messageOf } from '../../errors.ts';
import type { Answer } from '../../http/server/request/send-answer.ts';
import type { WireProblem } from '../wire.ts';

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
