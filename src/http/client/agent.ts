import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import type { buildConnector as Connect, Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { isLoopback } from '../../config/base-url.ts';
import type { Paths } from '../../config/directories.ts';
import type { Settings } from '../../config/settings.ts';
import { proxyFor } from './proxy.ts';

type Env = Readonly<Record<string, string | undefined>>;

interface Sources {
  readonly env: Env;
  readonly paths: Pick<Paths, 'dataDir'>;
  readonly settings: Pick<Settings, 'timeoutMs'>;
}

/**
 * The connections of one run: HTTP/1.1 with keep-alive, `timeoutMs` to connect, to the first header and between two
 * pieces of a body, through the proxy that the environment names. An https loopback address is trusted when our own
 * local authority, or one in `NODE_EXTRA_CA_CERTS`, vouches for it; node itself adds that file's for other hosts.
 */
export async function createAgent({ env, paths, settings: { timeoutMs } }: Sources): Promise<Dispatcher> {
  // V8 would compile the HTTP parser's wasm again, optimised, and the process could not exit for 75 ms until that job
  // is done; the parser is no slower to notice without it.
  setFlagsFromString('--wasm-tiering-budget=100000000');
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const proxied = ['https_proxy', 'http_proxy', 'HTTPS_PROXY', 'HTTP_PROXY'].some((name) => env[name]);
  const ProxyAgent = proxied ? (await import('./proxy-agent.ts')).default : undefined;
  const direct = { timeout: timeoutMs };
  const connectLocally = localConnector(env, paths.dataDir, timeoutMs);
  const agent = new Agent({
    ...timeouts,
    factory: (origin) => {
      const url = new URL(origin);
      const proxy = proxyFor(url, env);
      if (proxy !== undefined && ProxyAgent !== undefined) {
        return new ProxyAgent({ ...timeouts, uri: proxy.href, requestTls: direct, proxyTls: direct });
      }
      const local = url.protocol === 'https:' && isLoopback(url.hostname);
      return new Pool(origin, { ...timeouts, connect: local ? connectLocally : direct });
    },
  });
  // undici gives this method to its dispatchers in its index, which is not loaded.
  return Object.assign(agent, {
    request: (options: Dispatcher.RequestOptions) => request.call(agent, options),
  });
}

/** Connects to https loopback addresses; our authority is read when the first one is dialled. */
function localConnector(env: Env, dataDir: string, timeout: number): Connect.connector {
  let ready: Promise<Connect.connector> | undefined;
  return (options, callback) => {
    ready ??= loopbackAuthorities(env, dataDir).then((ca) =>
      buildConnector(ca.length === 0 ? { timeout } : { timeout, ca }),
    );
    ready.then(
      (connect) => connect(options, callback),
      (error: unknown) => callback(error as Error, null),
    );
  };
}

/** Empty as long as no authority of ours was made: then loopback is trusted like any other host. */
async function loopbackAuthorities(env: Env, dataDir: string): Promise<string[]> {
  const { readAuthority } = await import('../../tls/authority.ts');
  const own = await readAuthority(dataDir);
  if (own === undefined) return [];
  const file = env['NODE_EXTRA_CA_CERTS'];
  // node has already warned of a file that it cannot read.
  const extra = file ? await readFile(file, 'utf8').catch(() => '') : '';
  return [own, ...(extra === '' ? [] : [extra])];
}
