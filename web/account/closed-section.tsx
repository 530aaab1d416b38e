import { Alert } from '../parts/alert.tsx';
import { type AccountKey, useAccountText } from './account-texts.tsx';

/** In place of a section with which this person can do nothing here: why. */
export function ClosedSection({ why }: { why: AccountKey }) {
  const text = useAccountText();
  return (
    <div className="stack">
      <Alert>{text(why)}</Alert>
    </div>
  );
}
