import type { ReactNode } from 'react';
import { type DeskAct, deskFields } from '#contract/desk.ts';
import { queryNames } from '#contract/screens.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { AccountForm } from '../account/account-form.tsx';
import { useApp } from '../app-context.ts';
import { TextField } from '../components/text-field.tsx';
import { useDesk } from './desk-context.tsx';

type ActProps = { act: DeskAct; hint: ReactNode; button?: AccountKey; entries?: EntryOfForm[] | undefined };

/** One of the acts of a page: what will happen, and its form, which stands open once it was begun. `#` and its name lead to it. */
export function Act({ act, hint, button = `desk-act-${act}`, entries = [] }: ActProps) {
  const { text, begun } = useDesk();
  return (
    <details className="act" id={act} name="act" open={begun === act}>
      <summary>{text(`desk-act-${act}`)}</summary>
      <AccountForm action={act} button={button} look="quiet">
        <Seen />
        <p className="soft">{hint}</p>
        {entries.map((entry) => (
          <Entry key={entry.name} of={act} {...entry} />
        ))}
      </AccountForm>
    </details>
  );
}

/** What the page knew of what it is about. */
export function Seen() {
  const { view } = useDesk();
  return 'seen' in view && <input type="hidden" name={deskFields.seen} value={view.seen} />;
}

/** Keeps the language that the address of the page asked for. */
export function AskedLanguage() {
  const { askedLanguage } = useApp();
  return askedLanguage && <input type="hidden" name={queryNames.language} value={askedLanguage} />;
}

type Kinds = Partial<Record<string, Pick<EntryOfForm, 'type' | 'options'>>>;

/** A form that shows the page by what is chosen in it; `kinds`: of the entries that are no text. */
export function Filter({ values, kinds }: { values: Record<string, string>; kinds: Kinds }) {
  const { text } = useDesk();
  return (
    <form className="filter" method="get">
      <AskedLanguage />
      {Object.entries(values).map(([name, value]) => (
        <Entry key={name} name={name} value={value} {...kinds[name]} />
      ))}
      <button className="button quiet" type="submit">
        {text('desk-show')}
      </button>
    </form>
  );
}

export type EntryOfForm = {
  name: string;
  value?: string | null;
  type?: 'date';
  isRequired?: boolean;
  /** Several, one a line. */
  isLines?: boolean;
  /** Values with texts `desk-is-…`, or what has a name of its own. */
  options?: readonly (string | { key: string; name: string })[];
};

/**
 * An entry of a form, with the text `desk-field-…`. `of`: the act of the form; what was typed comes back once it was refused,
 * unless somebody else has changed the same.
 */
export function Entry({ name, value, type, of, isRequired, isLines, options }: EntryOfForm & { of?: DeskAct }) {
  const { text, begun, kept, notice } = useDesk();
  const typed = begun === of && notice !== 'changedMeanwhile' ? kept[name] : undefined;
  const id = of ? `${of}-${name}` : name;
  const entry = { id, name, defaultValue: typed ?? value ?? '', required: isRequired, autoComplete: 'off' };
  const named = options?.map((one) =>
    typeof one === 'string' ? { key: one, name: text(`desk-is-${one}` as AccountKey) } : one,
  );
  const label = text(`desk-field-${name}` as AccountKey);
  if (!isLines && !options) return <TextField label={label} type={type ?? 'text'} {...entry} />;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className={options ? 'control choice' : 'control'}>
        {isLines && <textarea rows={3} spellCheck={false} {...entry} />}
        {named && (
          <select {...entry}>
            {named.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
    </div>
  );
}
