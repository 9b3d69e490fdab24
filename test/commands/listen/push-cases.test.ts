import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { freshHome, leads } from '../../support/run.ts';
import { listenInEachTest, token } from './support.ts';

interface Outcome {
  readonly status: number;
  /** Leads that are stored. */
  readonly ids?: readonly string[];
  readonly category?: string;
  /** Leads that must not be. */
  readonly never?: readonly string[];
  /** Words of the detail that a person sees. */
  readonly says?: readonly string[];
  readonly saysNot?: readonly string[];
}

/** What somebody's service sent to another receiver that read it wrongly. */
interface PushCase {
  readonly name: string;
  readonly flags?: readonly string[];
  readonly config?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly expect: Outcome & { readonly or?: Outcome };
}

const cases = JSON.parse(
  readFileSync(new URL('../../fixtures/cases/push.json', import.meta.url), 'utf8'),
) as readonly PushCase[];

const start = listenInEachTest();

it.each(cases)(
  '$name',
  async ({ flags = [], config = {}, headers = {}, body, expect: { or, ...outcome } }) => {
    const home = freshHome();
    for (const [key, value] of Object.entries(config))
      expect(await leads(['config', 'set', key, value], { home })).toMatchObject({ exitCode: 0 });
    const listener = await start([...flags, '--format', 'events'], { home });
    const { status } = await listener.post(JSON.stringify(body), { 'x-webhook-token': token, ...headers });
    await listener.stop();
    const {
      status: expected,
      ids,
      category,
      never = [],
      says = [],
      saysNot = [],
    } = or?.status === status && outcome.status !== status ? or : outcome;
    expect(status).toBe(expected);
    const { stdout } = await leads(['inbox', 'export'], { home });
    const stored = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Stored]));
    const idOf = ({ id, contact }: Stored): string => String(id ?? contact?.id);
    expect(stored.map(idOf)).toEqual(ids ?? []);
    if (category !== undefined) expect(stored.map((lead) => lead.category)).toEqual([category]);
    for (const id of never) expect(stored.map(idOf)).not.toContain(id);
    const detail = listener
      .events()
      .map((event) => JSON.stringify(event['detail'] ?? ''))
      .join(' ');
    for (const word of says) expect(detail).toContain(word);
    for (const word of saysNot) expect(detail).not.toContain(word);
  },
);

interface Stored {
  readonly id?: string | number;
  readonly category?: string;
  readonly contact?: { readonly id?: number };
}
