import { join } from 'node:path';
import type { Arrival, Inbox, RejectedDelivery } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { LeadSet, type SandboxLead } from '../../src/sandbox/data/lead-set.ts';
import { drawsFrom } from '../../src/sandbox/data/seeded-random.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { FakeClock } from './clock.ts';
import { freshHome } from './run.ts';

/** What happened to one lead; what follows from it is computed apart, by `truthOf`. */
export interface Fate {
  readonly lead: SandboxLead;
  readonly isListed: boolean;
  /** ms; undefined: it was never taken in. */
  readonly receivedAt: number | undefined;
  /** The record that the service lists, without the status of its delivery. */
  readonly listed: Uint8Array;
  /** Only the list has some field that no push carries. */
  readonly isRicher: boolean;
  /** The body that came. */
  readonly body: Uint8Array;
  readonly changed: readonly string[];
  readonly isRejected: boolean;
  readonly isRepeated: boolean;
  readonly isWaiting: boolean;
}

export interface Scenario {
  readonly seed: number;
  readonly leads: number;
  readonly now: number;
  /** How many of the oldest leads the service does not list any more. */
  readonly behindHorizon: number;
  /** By how much the service's clock is ahead of the receiver's; ms. */
  readonly clockAheadMs?: number;
}

const minute = 60_000;

/** Leads of `send` and `check` that came, or were rejected: the service lists none of them. */
const testLeads = 7;

/**
 * Draws drops, rejections, changes, fields that only the list has, late and repeated deliveries, waiting forwards and
 * deleted leads. Times are those of the service, and no delivery takes as long as makes it late, give or take half a minute.
 */
export function drawFates({ seed, leads, now, behindHorizon }: Scenario): Fate[] {
  const set = new LeadSet({ seed, count: leads, newest: now, status: 'new' });
  const draw = drawsFrom(seed);
  return set.all.map((lead, i) => {
    const draws = Array.from({ length: 8 }, draw);
    const [lost = 0, rejected = 0, late = 0, changed = 0, repeated = 0, pending = 0, deleted = 0, rich = 0] =
      draws;
    const delay = late < 0.03 ? 5.5 * minute + draw() * 3000 * minute : draw() * 4.5 * minute;
    const isDropped = lost < 0.03;
    const text = lead.text().replace(',"metadata":', ',"region":"north","metadata":');
    const change = changed < 0.06 ? changeIn(text, Math.floor(draw() * 8)) : undefined;
    const listed = rich < 0.3 ? text.replace(/}$/, ',"insight":{"score":7,"hints":[{"of":"x"}]}}') : text;
    return {
      lead,
      isListed: i >= behindHorizon && (deleted >= 0.01 || isDropped),
      receivedAt: isDropped ? undefined : Math.min(Math.floor(lead.createdAt + delay), now - 1),
      listed: Buffer.from(listed),
      isRicher: listed !== text,
      body: Buffer.from(change?.body ?? text),
      changed: change?.fields ?? [],
      // Half of the lost ones, and some that a retry brought later.
      isRejected: rejected < (isDropped ? 0.5 : 0.02),
      isRepeated: repeated < 0.05,
      isWaiting: pending < 0.02,
    };
  });
}

/** Bytes that differ; the values do in some of the cases only. */
function changeIn(json: string, kind: number): { body: string; fields: string[] } {
  if (kind === 0) return { body: json.replace(/"category":"/, '"category":"x'), fields: ['category'] };
  if (kind === 1) return { body: JSON.stringify(JSON.parse(json), undefined, 2), fields: lossyFields(json) };
  if (kind === 2) return { body: json.replace(/("name":")/, '$1_'), fields: ['contact.name'] };
  if (kind === 3)
    return { body: json.replace(/"metadata":/, '"extra":{"a":1},"metadata":'), fields: ['extra'] };
  // Only other pushes carry it.
  if (kind === 4) return { body: json.replace('"region":"north",', ''), fields: ['region'] };
  if (kind === 5)
    return { body: json.replace('"region":"north"', '"region":null,"team":null'), fields: ['region'] };
  // The same in other words.
  const inMadrid = (utc: string): string =>
    new Date(Date.parse(utc) + 120 * minute).toISOString().replace('Z', '+02:00');
  return {
    body: json.replace(
      /"createdAt":"([^"]+)"/,
      (_, utc: string) => `"createdAt":"${inMadrid(utc)}","by":null`,
    ),
    fields: [],
  };
}

/** Integers beyond 2^53 lose digits when a program writes the body again. */
const lossyFields = (json: string): string[] => {
  const again = JSON.stringify(JSON.parse(json));
  const digits = (text: string, name: string): string | undefined =>
    new RegExp(`"${name}":(?:\\{"id":)?(\\d+)`).exec(text)?.[1];
  return [
    ['metadata.campaignId', 'campaignId'],
    ['metadata.form.id', 'form'],
  ].flatMap(([path = '', name = '']) => (digits(json, name) === digits(again, name) ? [] : [path]));
};

export interface Window {
  readonly now: number;
  readonly since: number;
  readonly settleMs: number;
}

export interface Truth {
  readonly class: string;
  readonly fields: readonly string[] | null;
}

/** The class of each lead that has one, from what happened, without looking at either side. */
export function truthOf(fates: readonly Fate[], { now, since, settleMs }: Window): Map<string, Truth> {
  const truth = new Map<string, Truth>();
  const horizon = Math.min(...fates.filter((fate) => fate.isListed).map(({ lead }) => lead.createdAt));
  for (const fate of fates) {
    const { createdAt, id } = fate.lead;
    if (createdAt < since) continue;
    const kind = classOf(fate, horizon);
    if (kind === undefined) continue;
    const isYoung = createdAt > now - settleMs;
    const fields = kind === 'different' ? fate.changed : null;
    truth.set(id, { class: isYoung ? 'unsettled' : kind, fields });
  }
  return truth;
}

function classOf(fate: Fate, horizon: number): string | undefined {
  const { lead, isListed, receivedAt, changed, isRejected, isWaiting } = fate;
  if (isListed && receivedAt === undefined) return isRejected ? 'refused' : 'missing';
  if (receivedAt === undefined) return undefined;
  if (!isListed) return lead.createdAt <= horizon ? 'beyond-horizon' : 'extra';
  if (changed.length > 0) return 'different';
  if (isWaiting) return 'waiting';
  return receivedAt - lead.createdAt > 5 * minute ? 'late' : undefined;
}

/** The records that the service lists. */
export const listedRecords = (fates: readonly Fate[]): Uint8Array[] =>
  fates.filter(({ isListed }) => isListed).map(({ listed }) => listed);

/** A home whose inbox received the leads, in an order of its own. */
export async function homeWithInbox(fates: readonly Fate[], scenario: Scenario): Promise<string> {
  const { seed, now, clockAheadMs = 0 } = scenario;
  const home = freshHome();
  const inbox = await openReceiver(home, now - clockAheadMs, []);
  const shuffled = shuffle(fates, drawsFrom(seed + 1));
  await reject(
    inbox,
    shuffled.filter(({ isRejected }) => isRejected),
    clockAheadMs,
  );
  await receiveTestLeads(inbox, scenario);
  await take(
    inbox,
    shuffled.filter(({ isWaiting }) => !isWaiting),
    clockAheadMs,
  );
  await inbox.close();
  const forwarding = await openReceiver(home, now - clockAheadMs, ['forward http://127.0.0.1:1/hook']);
  await take(
    forwarding,
    shuffled.filter(({ isWaiting }) => isWaiting),
    clockAheadMs,
  );
  await forwarding.close();
  return home;
}

export const openReceiver = (home: string, now: number, targets: readonly string[]): Promise<Inbox> =>
  openInbox({
    location: join(home, 'data', 'inbox.db'),
    clock: new FakeClock(now),
    targets,
  });

async function receiveTestLeads(inbox: Inbox, { now, clockAheadMs = 0 }: Scenario): Promise<void> {
  for (let i = 0; i < testLeads; i += 1) {
    const id = `leads-${i % 2 === 0 ? 'send' : 'check'}-k3f9x2-${i}`;
    const created = now - i * 900 * minute - minute;
    const body = Buffer.from(
      JSON.stringify({ id, category: 'solar', createdAt: new Date(created).toISOString() }),
    );
    const arrival = arrivalOf(id, body, created - clockAheadMs);
    if (i % 3 < 2) await inbox.take([arrival]);
    else
      await inbox.reject([
        { delivery: arrival.delivery, rejection: rejection('wrong_credential', 'no token') },
      ]);
  }
}

async function take(inbox: Inbox, fates: readonly Fate[], clockAheadMs: number): Promise<void> {
  const arrivals = fates.flatMap((fate) => {
    if (fate.receivedAt === undefined) return [];
    const receivedAt = fate.receivedAt - clockAheadMs;
    const arrival = arrivalOf(fate.lead.id, fate.body, receivedAt);
    return fate.isRepeated ? [arrival, arrivalOf(fate.lead.id, fate.body, receivedAt + 7)] : [arrival];
  });
  for (let i = 0; i < arrivals.length; i += 500) await inbox.take(arrivals.slice(i, i + 500));
}

/** As a receiver keeps what is not authentic: it has not read the body. Only the newest thousand are kept. */
async function reject(inbox: Inbox, fates: readonly Fate[], clockAheadMs: number): Promise<void> {
  const rejected = fates.map(({ lead, body }): RejectedDelivery => ({
    delivery: arrivalOf(lead.id, body, lead.createdAt - clockAheadMs).delivery,
    rejection: rejection('wrong_credential', 'not the token'),
  }));
  for (let i = 0; i < rejected.length; i += 500) await inbox.reject(rejected.slice(i, i + 500));
}

export const arrivalOf = (leadId: string, body: Uint8Array, receivedAt: number): Arrival => ({
  leadId,
  delivery: {
    method: 'POST',
    path: '/',
    url: 'https://localhost/',
    rawHeaders: [['content-type', 'application/json']],
    body,
    remote: '127.0.0.1',
    receivedAt,
  },
});

function shuffle<T>(items: readonly T[], draw: () => number): T[] {
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i -= 1) {
    const j = Math.floor(draw() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}
