import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { authorityPath, readAuthority, renewBefore } from '../../tls/local-authority.ts';
import { type CheckResult, checkNamed } from '../check-result.ts';

/** Until when the local authority is valid, which users may have told their clients to trust. */
export async function checkAuthority(dataDir: string, now: number): Promise<CheckResult> {
  const check = checkNamed('receiver.authority');
  const path = authorityPath(dataDir);
  try {
    const pem = await readAuthority(dataDir);
    if (pem === undefined) return check.pass('the local authority is made by the first listen');
    const certificate = new X509Certificate(pem);
    const keyPath = join(dirname(path), 'ca-key.pem');
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyPath, 'utf8')))) {
      throw new Error(`${keyPath} does not belong to it`);
    }
    const end = Date.parse(certificate.validTo);
    const until = new Date(end).toISOString().slice(0, 10);
    return end - now <= renewBefore
      ? check.warn(
          `${path} ${end <= now ? 'ended on' : 'is valid until'} ${until}`,
          'the next listen makes another one, which clients have to trust anew',
        )
      : check.pass(`${path}, valid until ${until}`);
  } catch (error) {
    return check.fail(
      `${path} cannot be used: ${messageOf(error)}`,
      `remove ${dirname(path)} to have a new one made`,
    );
  }
}
