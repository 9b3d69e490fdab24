import type { VNode } from 'preact';
import { CompareDialog } from '../compare/compare-dialog.tsx';
import { CurlDialog } from '../detail/curl-dialog.tsx';
import { ReplayDialog } from '../replay/replay-dialog.tsx';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { HelpDialog } from '../keys/help-dialog.tsx';

export function Dialogs(): VNode | null {
  const open = useValue(useModel().dialog);
  if (open === null) return null;
  if (open.name === 'help') return <HelpDialog />;
  if (open.name === 'curl') return <CurlDialog command={open.command} />;
  if (open.name === 'compare') return <CompareDialog delivery={open.delivery} />;
  return <ReplayDialog delivery={open.delivery} />;
}
