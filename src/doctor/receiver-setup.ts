import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Settings } from '../config/load-settings.ts';
import { ConfigError, messageOf } from '../errors.ts';
import {
  authorityKeyPath,
  authorityPath,
  readAuthority,
  renewAuthorityBefore,
} from '../tls/local-authority.ts';
import { type CheckResult, fail, pass, warn } from './check-result.ts';

export async function checkPort(host: string, port: number): Promise<CheckResult> {
  const name = 'receiver.port';
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return pass(name, `${address} is free`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const otherPort = 'leads listen --port N';
    if (code === 'EACCES')
      return fail(name, `${address} needs more rights`, `use one from 1024 on: ${otherPort}`);
    if (code !== 'EADDRINUSE')
      return fail(name, `nothing can listen on ${address} (${code})`, 'name an address of this machine');
    // No failure: the port may be taken by the very `listen` that the person has in mind.
    const occupied = `${address} is taken, by a leads listen that runs or by another program`;
    return warn(name, occupied, `for another one: ${otherPort}`);
  } finally {
    server.close();
  }
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Whether `listen` can use the local authority, which users may have told their clients to trust, and for how long. */
export async function checkAuthority(dataDir: string, now: number): Promise<CheckResult> {
  const name = 'receiver.authority';
  const path = authorityPath(dataDir);
  const willBeReplaced = 'the next listen makes another one, which clients have to trust again';
  const unusable = (why: string): CheckResult =>
    fail(name, `${path} cannot be used: ${why}`, `remove ${dirname(path)} to have a new one made`);
  try {
    const pem = await readAuthority(dataDir);
    if (pem === undefined) return pass(name, 'the local authority is made by the first listen');
    const certificate = new X509Certificate(pem);
    const keyPath = authorityKeyPath(dataDir);
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyPath, 'utf8'))))
      return unusable(`${keyPath} does not belong to it`);
    const [start, end] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    const setClock = `set the clock if it is behind; else ${willBeReplaced}`;
    if (start > now) return fail(name, `${path} is valid from ${dayOf(start)}`, setClock);
    if (end - now > renewAuthorityBefore) return pass(name, `${path}, valid until ${dayOf(end)}`);
    return warn(name, `${path} ${end <= now ? 'ended on' : 'is valid until'} ${dayOf(end)}`, willBeReplaced);
  } catch (error) {
    return error instanceof ConfigError ? fail(name, error) : unusable(messageOf(error));
  }
}

/** Whether a lead has the same id where it is delivered and where it is listed. */
export function checkIdFields({
  dialect,
  webhookId,
}: Pick<Settings, 'dialect' | 'webhookId'>): CheckResult[] {
  const listed = dialect.id ?? 'id';
  if (webhookId === listed) return [];
  const detail = `'${webhookId}' identifies a delivered lead and '${listed}' a listed one: where they differ, a lead has two ids`;
  const commands = `leads config set webhook.id ${listed}, or leads config set api.id ${webhookId}`;
  return [warn('receiver.id', detail, `name one field in both, if leads have it: ${commands}`)];
}
