import type { ComponentProps, ReactNode } from 'react';
import { useApp } from '../app-context.ts';
import { titleKey } from '../screen-title.ts';
import { Seal } from './seal.tsx';
import { TitleHeading } from './title-heading.tsx';

type Props = Partial<ComponentProps<typeof Seal>> & { prefix?: string; children?: ReactNode };

/** The heading of the current place, for the screens of the second script: the first one needs only its own. */
export function Heading({ prefix, icon, kind = 'plain', children }: Props) {
  const { place, screen } = useApp();
  return (
    <>
      {icon && <Seal icon={icon} kind={kind} />}
      <TitleHeading titleKey={titleKey(screen, place.search)} prefix={prefix} />
      {children && <p className="lede">{children}</p>}
    </>
  );
}

export function PageAccount({ account }: { account: string | undefined }) {
  const { message } = useApp();
  return account ? <p className="lede">{message('page-account', { account })}</p> : null;
}
