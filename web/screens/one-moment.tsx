import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { PortalLink } from '../parts/portal-link.tsx';

type Props = Extract<ServerPage, { name: 'oneMoment' }>;

/** The first of two presses is still under way: the page looks again by itself, the link is the fallback. */
export function OneMoment({ url }: Props) {
  const message = useMessage();
  return (
    <>
      <Heading />
      <p className="lede">{message('signing-in')}</p>
      <p className="links">
        <PortalLink href={url}>{message('reload')}</PortalLink>
      </p>
    </>
  );
}
