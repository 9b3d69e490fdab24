import { expect, test } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { listen } from '../commands/listen/support.ts';
import { inParallel } from '../support/in-parallel.ts';
import { postRaw } from '../support/overheard.ts';
import { leads } from '../support/run.ts';
import { outgoing } from '../webhook/delivery.ts';
import { cases, keyOf } from '../webhook/schemes/every.ts';
import { full } from '../support/faults.ts';

/** A receiver of its own for every form of signing, or, by default, for the richest of each scheme. */
const received = full ? cases : [...perScheme().values()];

function perScheme(): Map<string, (typeof cases)[number]> {
  const richest = new Map<string, (typeof cases)[number]>();
  for (const one of cases) {
    const headers = one.scheme.sign(outgoing(), keyOf(one.scheme, one.secret), 0).length;
    const known = richest.get(one.scheme.name);
    const before =
      known === undefined ? 0 : known.scheme.sign(outgoing(), keyOf(known.scheme, known.secret), 0).length;
    if (headers > before) richest.set(one.scheme.name, one);
  }
  return richest;
}

test('promise 6: without a usable secret no receiver starts', async () => {
  const started: string[] = [];
  let tried = 0;
  const refused = async (argv: readonly string[], exitCode: number, env: Record<string, string> = {}) => {
    tried += 1;
    const run = await leads(['listen', '--http', '--port', '0', '--for', '1s', ...argv], { env });
    if (run.exitCode !== exitCode || run.stdout !== '')
      started.push(`${String(run.exitCode)}: ${argv.join(' ')}`);
  };
  for (const { name, flags } of cases) {
    const flag = name === 'token' ? '--token' : '--secret';
    await refused(flags, 3);
    for (const empty of ['', ' ', '\n']) await refused([...flags, flag, empty], 3);
    await refused([...flags, flag, 'good-secret-of-some-length', flag, ''], 3);
    // A token at hand is no reason to ask for less than the scheme that was named.
    if (name !== 'token') await refused(flags, 3, { LEADS_WEBHOOK_TOKEN: 'a-token-in-the-environment' });
  }
  await refused([], 3);
  await refused(['--token', ''], 3);
  for (const unknown of ['none', 'Token', 'hmac', ''])
    await refused(['--scheme', unknown, '--secret', 's'], 2);
  await refused(['--secret', 's'], 2);
  await refused(['--no-verify', '--token', 't'], 2);
  console.log(
    `promise 6: ${tried} ways to start without a secret or with contradictions: started ${started.length}`,
  );
  expect(started).toEqual([]);
});

/** Schemes under which another one's signature is genuine: same headers, same content, same secret. */
const accepts: Readonly<Record<string, string>> = {
  github: 'meta',
  meta: 'github',
  svix: 'standard-webhooks',
};

test('promise 6: a missing, repeated, emptied or borrowed credential is never accepted', async () => {
  const accepted: string[] = [];
  let sent = 0;
  const attack = async ({ name, scheme, secret, flags }: (typeof cases)[number]): Promise<void> => {
    const secretFlag = name === 'token' ? '--token' : '--secret';
    const receiver = await listen(['--http', ...flags, secretFlag, secret], { clock: systemClock });
    const url = receiver.url.replace(/\/$/, '');
    const message = { ...outgoing(), url: `${url}/` };
    const key = keyOf(scheme, secret);
    const right = scheme.sign(message, key, Date.now());
    const bad: (readonly (readonly [string, string])[])[] = [[], [...right, ...right]];
    for (const [i, [header, value]] of right.entries()) {
      bad.push(right.toSpliced(i, 1));
      bad.push(right.with(i, [header, '']));
      bad.push([...right, [header, value]]);
      bad.push([[header.toUpperCase(), 'x'], ...right]);
      bad.push(right.with(i, [header, `${value}, ${value}`]));
      bad.push(right.with(i, [`x_${header}`, value]));
    }
    for (const other of cases) {
      if (other.scheme.name === scheme.name || other.scheme.name === accepts[scheme.name]) continue;
      bad.push(other.scheme.sign(message, keyOf(other.scheme, other.secret), Date.now()));
    }
    const tell = async (headers: (typeof bad)[number]): Promise<void> => {
      sent += 1;
      const { status } = await postRaw(url, headers, message.body);
      if (status !== 401) accepted.push(`${name}, ${status}: ${JSON.stringify(headers)}`);
    };
    // At once, so that they share the syncs of the inbox.
    await Promise.all(bad.map(tell));
    expect(await postRaw(url, right, message.body), name).toMatchObject({ status: 200 });
    await receiver.stop();
  };
  await inParallel(received, 3, attack);
  console.log(
    `promise 6: ${sent} deliveries with a missing, repeated, empty or foreign credential: accepted ${accepted.length}`,
  );
  expect(accepted).toEqual([]);
});
