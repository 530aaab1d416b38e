import type { ScreenOf } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import { CopyButton, SmallButton } from '../components/copy-button.tsx';
import { Heading } from '../components/heading.tsx';
import { Icon } from '../components/icon.tsx';
import { PortalLink } from '../components/links.tsx';
import { Alert } from '../components/notice.tsx';
import { Fact } from '../components/reference.tsx';
import { sealShapes } from '../components/seal.tsx';
import { OnceScripted } from '../is-scripted.tsx';

/** At this many left, suggests new ones. */
const few = 2;

/** Shown between the second factor and the destination: codes for when the phone is not at hand. */
export function RecoveryCodes({ codes, left, destination }: ScreenOf<'recoveryCodes'>) {
  const { message } = useApp();
  return (
    <>
      <Heading icon="key" kind={codes ? 'good' : 'plain'}>
        {message(codes ? 'recovery-codes-text' : 'recovery-codes-shown-text')}
      </Heading>
      <div className="stack">
        {codes ? <Codes codes={codes} /> : <Fact label={message('recovery-codes-left')}>{left}</Fact>}
        {!codes && left <= few && <Alert>{message('recovery-codes-few')}</Alert>}
        <PortalLink className="button" href={destination}>
          {message('continue')}
        </PortalLink>
      </div>
    </>
  );
}

function Codes({ codes }: { codes: string[] }) {
  const { message, page } = useApp();
  const { branding, rules, typedUsername } = page;
  const text = codes.join('\n');
  const about = [branding.name + (typedUsername && `: ${typedUsername}`), rules.origin + rules.basePath];
  const file = [...about, message('recovery-codes-text'), '', text, ''].join('\n');
  return (
    <>
      {typedUsername && (
        <div className="on-paper">
          <Fact label={message('signed-in-username')}>{typedUsername}</Fact>
        </div>
      )}
      <ul className="codes" translate="no" aria-label={message('recovery-codes')}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <OnceScripted className="row">
        <CopyButton text={text} />
        <a
          className="button quiet small"
          download={`${branding.name} – ${message('recovery-codes')}.txt`}
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(file)}`}
        >
          <Icon shape={sealShapes.download} size={18} />
          {message('download')}
        </a>
        <SmallButton icon="print" onClick={() => print()}>
          {message('print')}
        </SmallButton>
      </OnceScripted>
    </>
  );
}
