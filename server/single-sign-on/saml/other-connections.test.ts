import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import type { SamlConnection } from '../sso-connection.ts';
import { otherByLogoutAddress } from './other-connections.ts';

function connection(key: string, signOnUrl: string, url?: string, responseUrl = url): SamlConnection {
  const logout = url === undefined ? undefined : { url, responseUrl, binding: 'redirect' };
  return { key, protocol: 'saml', settings: { entityId: `https://${key}.test`, signOnUrl, logout } } as SamlConnection;
}

const own = 'https://m.test/sso';
const other = connection('h', 'https://h.test/sso', 'https://slo.h.test/slo');
const renamed = { ...other, settings: { ...other.settings, entityId: 'https://before.test' } } as SamlConnection;
const shared = connection('h', 'https://login.test/h/saml2', 'https://login.test/h/saml2');

describe('the address of another provider for single logout', () => {
  it('is refused, whichever of the two is added first', () =>
    eachRow(
      [
        ['its logout address', connection('m', own, 'https://slo.h.test/slo'), other],
        ['anything where it signs people on', connection('m', own, 'https://h.test/other?x=1'), other],
        ['its logout host by another case, with a dot', connection('m', own, 'https://SLO.h.test./'), other],
        ['it for answers alone', connection('m', own, 'https://m.test/slo', 'https://h.test/slo'), other],
        [
          'it on a host where both sign on',
          connection('m', 'https://login.test/m', 'https://login.test/h/saml2'),
          shared,
        ],
        ['it there, with a query', connection('m', 'https://login.test/m', 'https://login.test/h/saml2?x'), shared],
        [
          'it there, spelled otherwise',
          connection('m', 'https://login.test/m', 'https://login.test//H/%73aml2;a/'),
          shared,
        ],
      ],
      ([_, mine, theirs]) => {
        expect(otherByLogoutAddress(mine, [theirs])).toBe('h');
        expect(otherByLogoutAddress(theirs, [mine, theirs])).toBe('m');
      },
    ));

  it('what is not its address is not affected', () =>
    eachRow(
      [
        ['its own', connection('m', own, 'https://m.test/slo'), other],
        ['a host of its own for that', connection('m', own, 'https://slo.m.test/slo'), other],
        ['none', connection('m', own), other],
        [
          'its own part of a host that several share',
          connection('m', 'https://login.test/m', 'https://login.test/m'),
          shared,
        ],
        ['what it had under another entity ID', connection('h', own, 'https://h.test/slo'), renamed],
        ['that of the same provider', connection('h', own, 'https://h.test/slo'), { ...other, key: 'h2' }],
      ],
      ([_, mine, theirs]) => {
        expect(otherByLogoutAddress(mine, [mine, theirs])).toBeNull();
      },
    ));
});
