import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrivalOf } from './both-sides.ts';
import { FakeClock } from './clock.ts';
import { freshHome } from './run.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';

/** Texts that would make the file if a shell ran them. */
export const hostileTexts = (canary: string): readonly string[] => [
  `$(touch ${canary})`,
  `\`touch ${canary}\``,
  `';touch ${canary};'`,
  `";touch ${canary};"`,
  `lead_x\ntouch ${canary}\n`,
  `lead_x\r$(touch ${canary})`,
  `\u001b]0;x\u0007\u001b[2J$(touch ${canary})`,
  `-o$(touch ${canary})`,
  `lead_\${x:-$(touch ${canary})}`,
  `lead x;touch ${canary}`,
];

/** A home with two plain leads and profiles, and with hostile ids, categories, field names and profiles. */
export async function homeWithLeads(canary: string): Promise<string> {
  const home = freshHome();
  const hostile = hostileTexts(canary);
  mkdirSync(join(home, 'config'), { mode: 0o700 });
  const profiles = Object.fromEntries([...hostile, 'work', 'default'].map((name) => [name, {}]));
  writeFileSync(join(home, 'config', 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  writeFileSync(join(home, 'capture.http'), 'POST / HTTP/1.1\n\n{}');
  const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock: new FakeClock(0) });
  const ids = ['lead_new-2', ...hostile, 'lead_old-1'];
  await inbox.take(
    ids.map((id, i) => {
      const category = hostile[i - 1] ?? 'solar';
      const metadata = { campaign: 'x', [hostile[i - 1] ?? 'source']: 'y' };
      return arrivalOf(id, Buffer.from(JSON.stringify({ id, category, metadata })), i);
    }),
  );
  await inbox.close();
  return home;
}
