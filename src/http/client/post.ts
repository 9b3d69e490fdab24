import { createDirectPoster } from './post/direct-poster.ts';
import { createProxiedPoster } from './post/proxied-poster.ts';
import type { Poster, PosterOptions } from './post/poster.ts';

export type { Poster, PosterOptions, PostResult } from './post/poster.ts';

/** Sends through the proxy where there is one. */
export const createPoster = ({ proxy, ...options }: PosterOptions): Poster =>
  proxy === undefined ? createDirectPoster(options) : createProxiedPoster({ ...options, proxy });
