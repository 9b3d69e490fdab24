import type { Inbox, StoredDelivery } from '../../inbox/inbox.ts';
import { targetLabel } from '../../inbox/target-name.ts';
import { sentenceOf } from '../../messages/find-message.ts';
import type { Receiver } from '../../receiver/create-receiver.ts';
import { type Retried, retryDelivery } from '../../receiver/retry-delivery.ts';
import { asReceived, storedDelivery } from '../../receiver/stored-deliveries.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Clock } from '../../time/clock.ts';
import { badRequest, inboxFailed, notThere, RequestProblem } from '../request-problem.ts';
import { whyNotReplayable } from '../queries/describe-delivery.ts';
import type { WireReplay, WireReplayed, WireTarget } from '../wire.ts';
import type { ReplayTarget } from './replay-target.ts';
import { randomBytes } from 'node:crypto';
import { bufferOf, compact } from '../../json/bytes.ts';
import { changeMember } from '../../json/change-members.ts';
import { pathTo } from '../../json/members.ts';
import type { Json } from '../../json/exact.ts';
import { readDocument } from '../../json/scanner.ts';
import { idFieldIn, type LeadAt, plainId, readLeads } from '../../lead/read-leads.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

/** Replays that wait for the one ahead of them. */
const mostWaiting = 16;

type ReplayInbox = Pick<Inbox, 'list' | 'lease' | 'settle' | 'markDoneAtNewAddress' | 'release'>;

export interface ReplayerOptions {
  readonly targets: readonly ReplayTarget[];
  /** Opens the inbox to write what came of handing a lead to the target. */
  readonly useInbox: <T>(target: Target, use: (inbox: ReplayInbox) => Promise<T>) => Promise<T>;
  /** Of the receiver of this process, whose leases on the inbox these are too. Default: there is none. */
  readonly handAlone?: Receiver['handAlone'] | undefined;
  readonly clock: Clock;
}

/**
 * Replays one delivery after the other: leases keep receivers apart, and two replays of this process have the same name on
 * theirs.
 */
export class Replayer {
  readonly targets: readonly WireTarget[];
  readonly #options: ReplayerOptions;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: ReplayerOptions) {
    this.#options = options;
    this.targets = options.targets.map(({ wire }) => wire);
  }

  /** The address of one of the targets, without credentials; undefined for any other name. */
  urlOf(name: string): string | undefined {
    return this.#named(name)?.url;
  }

  /** Rejects with a `RequestProblem` where it was not sent; that the target did not take it is a result. */
  async replay(asked: WireReplay): Promise<WireReplayed> {
    const to = this.#named(asked.target);
    if (to === undefined) {
      const problem = 'The target is none of those that were named when leads was started.';
      throw new RequestProblem({
        status: 403,
        code: 'forbidden',
        problem,
        hint: '--replay-to names one more',
      });
    }
    if (asked.body !== undefined && !to.wire.isLocal) {
      const problem = 'An edited delivery goes to a target on this machine only.';
      throw new RequestProblem({ status: 403, code: 'forbidden', problem });
    }
    if (this.#waiting >= mostWaiting) {
      const problem = 'Too many replays wait for each other.';
      throw new RequestProblem({ status: 429, code: 'busy', problem });
    }
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#send(asked, to));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      if (error instanceof RequestProblem) throw error;
      const failed = inboxFailed(error);
      throw new RequestProblem({ ...failed, problem: `The replay failed: ${failed.problem}` });
    } finally {
      this.#waiting -= 1;
    }
  }

  async close(): Promise<void> {
    await this.#last;
    for (const { target } of this.#options.targets) await target.close?.();
  }

  #named(name: string): ReplayTarget | undefined {
    return this.#options.targets.find(({ wire }) => wire.name === name);
  }

  #send({ seq, body }: WireReplay, { target, wire }: ReplayTarget): Promise<WireReplayed> {
    return this.#options.useInbox(target, async (inbox) => {
      const stored = await storedDelivery(inbox, seq);
      if (stored === undefined) throw new RequestProblem(notThere(`Delivery ${seq}`));
      const problem = whyNotReplayable(stored);
      if (problem !== undefined) throw new RequestProblem({ status: 409, code: 'not-replayable', problem });
      if (body !== undefined) return this.#sendEdited(stored, body, target);
      return this.#sendAgain(stored, target, wire.name, inbox);
    });
  }

  async #sendAgain(
    { seq, leadId = '', attempt, place }: StoredDelivery,
    target: Target,
    name: string,
    inbox: ReplayInbox,
  ): Promise<WireReplayed> {
    const { clock, handAlone } = this.#options;
    const delivery = { seq, leadId, attempt, place };
    const send = async (): Promise<Retried> => {
      const options = { target, inbox, clock, sentenceOf, hasMoved: false };
      const [retried] = await retryDelivery([delivery], options);
      if (retried === undefined) throw busy();
      return retried;
    };
    const lease = { leadId, seq, target: target.name };
    const retried = await (handAlone === undefined ? send() : handAlone(lease, send));
    if (retried === undefined) throw busy();
    const { ok, answer, durationMs, isSettled } = retried;
    return { ok, answer, durationMs, leadId, settled: isSettled ? targetLabel(name) : null };
  }

  /** It is not the lead that is stored: nothing is kept of it. */
  async #sendEdited(stored: StoredDelivery, text: string, target: Target): Promise<WireReplayed> {
    const { checked, leadId } = editedDelivery(asReceived(stored, [stored]), text);
    const leads = checked.leads.map((lead) => ({ ...lead, attempt: 1 }));
    const [result] = await Promise.all(target.deliver(checked, leads));
    if (result === undefined) throw new Error('a target gave no result');
    const { ok, answer, durationMs } = result;
    return { ok, answer, durationMs, leadId, settled: null };
  }
}

const busy = (): RequestProblem =>
  new RequestProblem({ status: 409, code: 'busy', problem: 'A receiver hands this lead on at this moment.' });

/** The same delivery with another body. */
interface Edited {
  readonly checked: CheckedDelivery;
  readonly leadId: string;
}

/**
 * The lead of an edited body gets an id that nothing else has: no receiver is to take it for the lead that was received.
 * `received`: with the delivery's own headers. Throws a `RequestProblem` for a body that cannot be sent.
 */
function editedDelivery(received: CheckedDelivery, text: string): Edited {
  const body = bufferOf(new TextEncoder().encode(text));
  const [original] = received.leads;
  const stored = original?.leadId ?? '';
  const idField = original === undefined ? plainId : idFieldIn(original.lead.bytes, stored);
  const read = readLeads(body, placeOfLead(received), { saidBy: 'the stored delivery' }, idField);
  if (!read.ok) throw badRequest(`The edited body holds no lead: ${read.detail}.`);
  const [found, ...more] = read.leads;
  if (found === undefined || more.length > 0) {
    throw badRequest('The edited body holds several leads: keep one of them.');
  }
  const leadId = `leads-edited-${randomBytes(8).toString('hex')}`;
  const { start, end } = found.place ?? { start: 0, end: body.length };
  const lead = changeMember(compact(body.subarray(start, end)), {
    path: [idField.name],
    value: JSON.stringify(leadId),
  });
  if (lead === undefined) throw new Error('a lead without an id was read');
  const edited = Buffer.concat([body.subarray(0, start), lead, body.subarray(end)]);
  const repeated = memberWithId(JSON.parse(edited.toString('utf8').replace(/^\ufeff/, '')) as Json, stored);
  if (repeated !== undefined) {
    throw badRequest(`The edited body has the id of the stored lead in '${repeated}', too: change it.`);
  }
  const place = found.place && { start, end: start + lead.length };
  return {
    leadId,
    checked: {
      ...received,
      delivery: { ...received.delivery, body: edited },
      leads: [{ lead: { ...found.lead, bytes: lead, id: leadId }, leadId, place, warnings: [] }],
    },
  };
}

/** Where the receiver found the lead: `--lead-at` may say what a body does not show. */
function placeOfLead({ delivery, leads: [lead] }: CheckedDelivery): LeadAt {
  const document = lead?.place && readDocument(delivery.body);
  if (lead?.place === undefined || document?.ok !== true) return 'auto';
  const { json, start } = document;
  const path = pathTo(json, start, lead.place.start);
  if (path === undefined) return 'auto';
  // Of several leads, those that are left may be at other places of their array.
  return /^\d+$/.test(path.at(-1) ?? '') ? path.slice(0, -1) : path;
}

/** The name of a member that says by its name that it is an id, and has this one; undefined where there is none. */
function memberWithId(value: Json, id: string): string | undefined {
  const waiting = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, member] of Object.entries<Json>(next)) {
      const isText = typeof member === 'string' || typeof member === 'number';
      if (isText && /id$/i.test(name) && String(member) === id) return name;
      waiting.push(member);
    }
  }
  return undefined;
}
