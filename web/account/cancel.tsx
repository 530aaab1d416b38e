import { useAccount, useSectionUrl } from './account-context.ts';
import { useAccountText } from './account-texts.tsx';

/** Back to the section, without what was begun there. */
export function Cancel() {
  const text = useAccountText();
  const { section } = useAccount();
  return (
    <p className="links">
      <a href={useSectionUrl()(section)}>{text('cancel')}</a>
    </p>
  );
}
