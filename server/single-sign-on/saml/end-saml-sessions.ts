import type { Deps } from '../../deps/deps.ts';
import { limits } from '../../limits.ts';
import { tokenHash } from '../../secrets/token.ts';
import { insertProviderLogout } from '../../storage/provider-logout.ts';
import { deleteSessionsOfProvider } from '../../storage/provider-sessions.ts';
import { insertReceivedSamlLogout } from '../../storage/saml-logout.ts';
import type { SamlConnection } from '../../storage/sso-connection.ts';
import { logoutTimeProblem } from './logout-checks.ts';
import { saml, samlp } from './names.ts';
import { openedName } from './subject.ts';
import { samlTime } from './time.ts';
import { acceptableUntil } from './validity.ts';
import { attributeOf, childrenNamed, textOf, type XmlElement } from './xml-elements.ts';

type Ended = { kind: 'ok'; ended: { userId: string; username: string }[] } | { kind: 'refused'; problem: string };

/**
 * Ends what a verified LogoutRequest names, only for this connection and only once; nothing outside its validity. A
 * request used before has already taken effect: sent twice by a double click, it gets the same answer and ends nothing
 * more.
 */
export async function endSamlSessions(deps: Deps, connection: SamlConnection, request: XmlElement): Promise<Ended> {
  const late = logoutTimeProblem(request, deps.now());
  if (late) return { kind: 'refused', problem: late };
  const names = [saml('NameID'), saml('EncryptedID')].flatMap((one) => childrenNamed(request, one));
  const name = await openedName(deps, names);
  if (name.kind === 'refused') return { kind: 'refused', problem: name.words };
  const subject = textOf(name.name);
  const sessions = childrenNamed(request, samlp('SessionIndex')).map(textOf);
  if (subject === null || sessions.includes(null)) return { kind: 'refused', problem: 'its names cannot be read' };
  const { id: connectionId } = connection;
  const requestHash = tokenHash(attributeOf(request, 'ID') ?? '');
  const ended = await deps.sql.begin(async (sql) => {
    const received = { connectionId, requestHash, endsAt: acceptableUntil(request) };
    if (!(await insertReceivedSamlLogout(sql, received))) return [];
    const named = {
      connectionId,
      subjectHash: tokenHash(subject),
      sessionHashes: sessions.map((session) => tokenHash(session ?? '')),
    };
    const issuedAt = new Date(samlTime(attributeOf(request, 'IssueInstant')) ?? 0);
    const endsAt = new Date(deps.now().getTime() + limits.providerLogoutKept);
    await insertProviderLogout(sql, { ...named, issuedAt, endsAt });
    return await deleteSessionsOfProvider(sql, named);
  });
  return { kind: 'ok', ended };
}
