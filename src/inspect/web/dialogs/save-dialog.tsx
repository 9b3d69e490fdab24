import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { WireSave, WireSaved } from '../../wire.ts';
import { type Problem, problemOf } from '../api-client/problem.ts';
import { saveFrom } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { isFiltered } from '../state/rows.ts';
import { sentence } from '../text/format.ts';
import { Dialog, Option, Options } from './dialog.tsx';

const forms: readonly (readonly [form: WireSave['form'], name: string, what: string])[] = [
  ['html', 'Report', 'counts, charts and the newest rows, as a page that needs no network'],
  ['csv', 'CSV', 'all rows, for spreadsheets'],
  ['ndjson', 'NDJSON', 'all rows, a JSON object a line'],
];

/** What the list shows now, as a file that the program writes. */
export function SaveDialog(): VNode {
  const model = useModel();
  const [form, setForm] = useState<WireSave['form']>('html');
  const [isWhole, setWhole] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { value: filter } = model.filter;
  const text = model.search.state.value?.text ?? '';
  const save = async (): Promise<void> => {
    const { verdicts, since, until } = filter;
    const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
    const asked: WireSave = { form, verdicts, since, until, text, zone, personalData: isWhole };
    try {
      const { path } = await model.api.post<WireSaved>('/api/saves', asked);
      saveFrom(path, '');
      model.dialog.value = null;
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Dialog title="Save">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Options title={isFiltered(filter) || text !== '' ? 'What is filtered now' : 'All deliveries'}>
          {forms.map(([one, name, what]) => (
            <Option
              key={one}
              of="form"
              isChosen={form === one}
              onChoose={() => setForm(one)}
              isFocused={form === one}
            >
              <span class="option-name">
                {name} <span class="note">{what}</span>
              </span>
            </Option>
          ))}
        </Options>
        {form === 'html' ? (
          <label class="note">
            <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} /> Names, phones and
            e-mails whole, not initials and last digits
          </label>
        ) : (
          <p class="note">It holds personal data.</p>
        )}
        {problem !== null && <p role="alert">{sentence(problem.message)}</p>}
        <div class="dialog-actions">
          <button type="submit" class="button primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
