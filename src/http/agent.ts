import { Agent, type Dispatcher } from 'undici';
import type { Paths } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';

interface Sources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: Paths;
  readonly settings: Settings;
}

/** The connections to the service. */
export function createAgent({ settings }: Sources): Promise<Dispatcher> {
  return Promise.resolve(new Agent({ headersTimeout: settings.timeoutMs, bodyTimeout: settings.timeoutMs }));
}
