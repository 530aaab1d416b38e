import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { Alert } from './alert.tsx';
import { Heading } from './heading.tsx';
import { PortalLink } from './portal-link.tsx';
import { WayOut } from './way-out.tsx';

// Announced without a user action: the screen was to show a code.
const urgent = {};

export function RegistrationUnavailable() {
  const message = useMessage();
  const { place } = useVisit();
  return (
    <>
      <Heading />
      <Alert kind="bad" title={message('registration-unavailable-title')} answerTo={urgent}>
        {message('twofa-qr-code-unavailable')}
      </Alert>
      <div className="stack">
        <PortalLink className="button" href={place.address} isDocument>
          {message('reload')}
        </PortalLink>
        <WayOut textKey="cancel" />
      </div>
    </>
  );
}
