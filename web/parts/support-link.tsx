import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { OutsideLink } from './outside-link.tsx';

export function SupportLink({
  className,
  text = 'contact-support',
}: {
  className?: string | undefined;
  text?: 'contact-support' | 'login-fail-ip-support';
}) {
  const message = useMessage();
  return (
    <OutsideLink className={className} href={useVisit().page.branding.links.support}>
      {message(text)}
    </OutsideLink>
  );
}
