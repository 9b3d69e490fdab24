import type { Output } from '../../host.ts';

const usual = 80;

/** Columns to fit into; undefined in a pipe, where nothing is cut. A terminal that does not know its size says 0. */
export const terminalWidth = (stream: Output): number | undefined =>
  stream.isTTY === true ? columnsOf(stream) : undefined;

/** The same for text that is wrapped in a pipe too. */
export const wrapWidth = (stream: Output): number => terminalWidth(stream) ?? usual;

const columnsOf = ({ columns = 0 }: Output): number => (columns > 0 ? columns : usual);
