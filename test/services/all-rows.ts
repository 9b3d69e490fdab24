import type { Row } from './row.ts';
import { cursorRows } from './rows/cursors.ts';
import { loneRows } from './rows/lone.ts';
import { numberRows } from './rows/numbers.ts';
import { unreadRows } from './rows/unread.ts';
import { vendorRows } from './rows/vendors.ts';

export const allRows: readonly Row[] = [
  ...loneRows,
  ...unreadRows,
  ...numberRows,
  ...cursorRows,
  ...vendorRows,
];
