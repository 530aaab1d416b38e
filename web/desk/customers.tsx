import { type CustomerRow, customerPath, type DeskViewOf } from '#contract/desk.ts';
import { TextAt } from '../account/times.tsx';
import { useDesk } from './desk-context.tsx';
import { Table } from './table.tsx';

/** The customers, and what will matter soon. */
export function Customers({ customers }: DeskViewOf<'customers'>) {
  const { text } = useDesk();
  return (
    <>
      <h1>{text('desk-customers')}</h1>
      <section className="panel">
        <CustomerTable customers={customers} />
      </section>
    </>
  );
}

/** Customers, a line each. */
export function CustomerTable({ customers }: { customers: CustomerRow[] }) {
  const { text, toDesk } = useDesk();
  const rows = customers.map(({ key, name, people, connections, ...row }) => ({
    id: key,
    cells: [
      <a key="name" href={toDesk(customerPath(key))}>
        {name}
      </a>,
      people,
      connections,
      <CustomerState key="state" {...row} />,
    ],
  }));
  const columns = [
    { title: 'desk-name' },
    { title: 'desk-people', isNumber: true },
    { title: 'desk-connections', isNumber: true },
    { title: 'desk-state' },
  ] as const;
  return <Table label={text('desk-customers')} columns={columns} rows={rows} />;
}

function CustomerState({ active, endsAt }: Pick<CustomerRow, 'active' | 'endsAt'>) {
  const { text } = useDesk();
  if (!active) return <span className="state plain">{text('desk-customer-off')}</span>;
  if (endsAt === null) return null;
  return (
    <span className="state warn">
      <TextAt text="desk-ends-first" at={endsAt} isDay />
    </span>
  );
}
