import { type PersonRow, type PersonState, personPath } from '#contract/desk.ts';
import { TextAt, Time } from '../account/times.tsx';
import { useDesk } from './desk-context.tsx';
import { Table } from './table.tsx';

/** People with their state, and their customers or, on a customer's page, their last sign-in. */
export function PeopleTable({ people, found = '', isOfCustomer = false }: Props) {
  const { text, toDesk } = useDesk();
  const third = isOfCustomer
    ? ({ title: 'desk-last-sign-in', isNumber: true } as const)
    : ({ title: 'desk-customer' } as const);
  const columns = [{ title: 'desk-name' }, { title: 'desk-username' }, third, { title: 'desk-state' }] as const;
  const rows = people.map(({ id, name, username, customers, state, lastSignInAt }) => ({
    id,
    cells: [
      <a key="name" href={toDesk(personPath(id))}>
        <Found in={name} by={found} />
      </a>,
      <Found key="username" in={username} by={found} />,
      isOfCustomer ? <LastSignIn key="last" at={lastSignInAt} /> : customers.join(', '),
      <StateMark key="state" {...state} />,
    ],
  }));
  return <Table label={text('desk-people')} columns={columns} rows={rows} />;
}

type Props = {
  people: readonly PersonRow[];
  /** What was typed, whose letters are washed. */
  found?: string;
  isOfCustomer?: boolean;
};

function LastSignIn({ at }: { at: Date | null }) {
  const { text } = useDesk();
  return at === null ? text('desk-never') : <Time at={at} isDay />;
}

const tones: Record<PersonState['word'], string> = {
  signedIn: 'good',
  canSignIn: 'good',
  waits: 'bad',
  noFactor: 'warn',
  invited: 'plain',
  noCustomer: 'bad',
  inactive: 'plain',
};

/** The state of a person: a mark and always a word. */
export function StateMark({ word, until }: PersonState) {
  const { text } = useDesk();
  return (
    <span className={`state ${tones[word]}`}>
      {until === null ? text(`desk-state-${word}`) : <TextAt text={`desk-state-${word}`} at={until} />}
    </span>
  );
}

/** A text with the letters washed by which it was found: beginnings of words. */
export function Found({ in: text, by }: { in: string; by: string }) {
  const words = by.match(/[\p{L}\p{N}]+/gu);
  if (words === null) return text;
  const beginnings = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})`, 'giu');
  // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
  return text.split(beginnings).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part));
}
