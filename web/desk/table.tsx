import { type ComponentProps, Fragment, type ReactNode } from 'react';
import { type CustomerRow, customerPath, type PersonRow, type PersonState, personPath } from '#contract/desk.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { TextAt, Time } from '../account/times.tsx';
import { useDesk } from './desk-context.tsx';

type Props<Row> = {
  label: AccountKey;
  rows: readonly Row[];
  /** By their titles: what of a row stands in each. */
  columns: { [Title in AccountKey]?: (row: Row) => ReactNode };
  /** What stands above a row and those that follow; `before`: the row before it. */
  above?: (row: Row, before: Row | undefined) => ReactNode;
};

/** Columns of times and counts, which on a phone say what they are. */
const numbers: AccountKey[] = ['desk-when', 'desk-last-sign-in', 'desk-people', 'desk-connections', 'desk-import-line'];

/** A table with a line a row. The roles stand in the markup, because `display` takes them away on a phone. */
export function Table<Row>({ label, rows, columns, above }: Props<Row>) {
  const { text } = useDesk();
  const cells = Object.entries(columns) as [AccountKey, (row: Row) => ReactNode][];
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <table className="table" role="table" aria-label={text(label)}>
      <thead role="rowgroup">
        <tr role="row">
          {cells.map(([title]) => (
            <th key={title} role="columnheader" scope="col">
              {text(title)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) => {
          const under = above?.(row, rows[index - 1]);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
            <Fragment key={index}>
              {under && (
                <tr role="row">
                  <td role="cell" className="day" colSpan={cells.length}>
                    {under}
                  </td>
                </tr>
              )}
              <tr role="row">
                {cells.map(([title, cell]) => (
                  <td key={title} role="cell" data-title={numbers.includes(title) ? text(title) : undefined}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            </Fragment>
          );
        })}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}

/** Customers, and what will matter soon. */
export function CustomerTable({ customers }: { customers: CustomerRow[] }) {
  const { toDesk } = useDesk();
  const columns = {
    'desk-name': ({ key, name }: CustomerRow) => <a href={toDesk(customerPath(key))}>{name}</a>,
    'desk-people': ({ people }: CustomerRow) => people,
    'desk-connections': ({ connections }: CustomerRow) => connections,
    'desk-state': ({ active, endsAt }: CustomerRow) => {
      if (!active) return <Mark tone="plain" text="desk-customer-off" at={null} />;
      return endsAt && <Mark tone="warn" text="desk-ends-first" at={endsAt} isDay />;
    },
  };
  return <Table label="desk-customers" rows={customers} columns={columns} />;
}

/** People with their state, and their customers or, on a customer's page, their last sign-in. `found`: what was typed. */
export function PeopleTable({ people, found }: { people: readonly PersonRow[]; found: string }) {
  const { text, toDesk, view } = useDesk();
  const lastSignIn = ({ lastSignInAt: at }: PersonRow) => (at ? <Time at={at} isDay /> : text('desk-never'));
  const columns = {
    'desk-name': ({ id, name }: PersonRow) => <a href={toDesk(personPath(id))}>{washed(name, found)}</a>,
    'desk-username': ({ username }: PersonRow) => washed(username, found),
    ...(view.name === 'customer'
      ? { 'desk-last-sign-in': lastSignIn }
      : { 'desk-customer': ({ customers }: PersonRow) => customers.join(', ') }),
    'desk-state': ({ state }: PersonRow) => <StateMark {...state} />,
  };
  return <Table label="desk-people" rows={people} columns={columns} />;
}

type Tones = Partial<Record<PersonState['word'], string>>;
const tones: Tones = { waits: 'bad', noCustomer: 'bad', noFactor: 'warn', invited: 'plain', inactive: 'plain' };

/** The state of a person: a mark and always a word. */
export function StateMark({ word, until }: PersonState) {
  return <Mark tone={tones[word] ?? 'good'} text={`desk-state-${word}`} at={until} />;
}

function Mark({ tone, ...words }: ComponentProps<typeof TextAt> & { tone: string }) {
  return (
    <span className={`state ${tone}`}>
      <TextAt {...words} />
    </span>
  );
}

/** A text with the letters washed by which it was found: beginnings of words. */
function washed(text: string, by: string): ReactNode {
  const words = by.match(/[\p{L}\p{N}]+/gu);
  if (words === null) return text;
  const beginnings = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})`, 'giu');
  // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
  return text.split(beginnings).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part));
}
