import type { Output } from '../../context.ts';

/** Columns to fit into; undefined in a pipe, where nothing is cut. */
export const terminalWidth = (stream: Output): number | undefined =>
  stream.isTTY === true ? stream.columns : undefined;
