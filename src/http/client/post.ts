import { createDirectPoster } from './direct-poster.ts';
import { createProxiedPoster } from './proxied-poster.ts';
import type { Poster, PosterOptions } from './poster.ts';

export type { Poster, PosterOptions, PostResult } from './poster.ts';

/** Sends through the proxy where there is one. */
export const createPoster = ({ proxy, ...options }: PosterOptions): Poster =>
  proxy === undefined ? createDirectPoster(options) : createProxiedPoster({ ...options, proxy });
