import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';

export function SupportLink({
  className,
  text = 'contact-support',
}: {
  className?: string | undefined;
  text?: 'contact-support' | 'login-fail-ip-support';
}) {
  const message = useMessage();
  return (
    <a className={className} href={useVisit().page.branding.links.support}>
      {message(text)}
    </a>
  );
}
