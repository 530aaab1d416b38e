import { expect, it } from 'vitest';
import { inWords } from './target.ts';

const base = new URL('https://hub.example.com/portal');

it.each([
  ['/portal/forgottenChangeFailedInfo?reason=3', 'forgottenChangeFailedInfo?reason=3'],
  ['/portal/forgottenChangeFailedInfo?3', 'forgottenChangeFailedInfo?3'],
  ['/portal/twoFactor?codeSentViaEmail=true&notice=codeSent', 'twoFactor?codeSentViaEmail=true&notice=codeSent'],
  ['/portal/twoFactor?notice=Lantern-Harbour-42-and-more', 'twoFactor?notice=…'],
  ['/portal/twoFactor?reason=123456', 'twoFactor?reason=…'],
  ['/portal/twoFactor?12=Lantern', 'twoFactor?12=…'],
  ['/portal/twoFactor?Lantern', 'twoFactor?…'],
  ['/portal/app;jsessionid=1234?x#y', '/portal/app'],
])('%s is told without what may be secret', (address, words) => {
  const answer = { status: 303, location: new URL(address, base), json: undefined, setCookies: [], clears: '' };
  expect(inWords(answer, base)).toBe(`303 to ${words}`);
});
