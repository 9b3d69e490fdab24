import type { VNode } from 'preact';
import { useModel } from '../state/page-model.ts';
import { Dialog } from '../shell/dialog.tsx';
import { ShortcutList } from './shortcut-list.tsx';
import { shortcuts } from './shortcuts.ts';

export function HelpDialog(): VNode {
  const { inbox } = useModel();
  return (
    <Dialog title="Keys">
      <ShortcutList shortcuts={shortcuts} />
      <p class="note">{inbox.program}</p>
    </Dialog>
  );
}
