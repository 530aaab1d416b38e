import { Fragment, type ReactNode } from 'react';
import type { AccountKey } from '../account/account-context.tsx';
import { useDesk } from './desk-context.tsx';

type Column = { title: AccountKey /** Of times and counts. */; isNumber?: boolean };
type Row = {
  id: string;
  /** What stands above this row and those that follow. */
  under?: ReactNode;
  /** In the order of the columns. */
  cells: ReactNode[];
};

/** A table with a line a row. The roles stand in the markup, because `display` takes them away on a phone. */
export function Table({ label, columns, rows }: { label: string; columns: readonly Column[]; rows: Row[] }) {
  const { text } = useDesk();
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <table className="table" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title }) => (
            <th key={title} role="columnheader" scope="col">
              {text(title)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ id, under, cells }) => (
          <Fragment key={id}>
            {under && (
              <tr role="row">
                <td role="cell" className="day" colSpan={columns.length}>
                  {under}
                </td>
              </tr>
            )}
            <tr role="row">
              {columns.map(({ title, isNumber }, index) => (
                <td key={title} role="cell" className={isNumber ? 'num' : undefined}>
                  {cells[index]}
                </td>
              ))}
            </tr>
          </Fragment>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}
