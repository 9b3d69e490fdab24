import { type CheckResult, checkNamed } from '../check-result.ts';

/** The oldest version that is supported; `engines` in package.json says the same. */
const oldest = [20, 19] as const;

export function checkNodeVersion(version: string): CheckResult {
  const check = checkNamed('machine.node');
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  return isOld
    ? check.fail(`node ${version} is older than ${oldest.join('.')}`, 'install a current version of node')
    : check.pass(`node ${version}`);
}
