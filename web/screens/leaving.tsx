import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { OutsideLink } from '../parts/outside-link.tsx';

type Props = Extract<ServerPage, { name: 'leaving' }>;

/** Leads on to an identity provider; the document does so by itself, the button is for where it does not. */
export function Leaving({ isSignOut, url, provider }: Props) {
  const message = useMessage();
  return (
    <>
      <Heading />
      <p className="lede">{message(isSignOut ? 'leaving-sign-out-text' : 'leaving-text', { provider })}</p>
      <div className="stack">
        <OutsideLink className="button" href={url}>
          {message('leaving-button', { provider })}
        </OutsideLink>
      </div>
    </>
  );
}
