import { costlyAnswers } from './saml-forgeries/costly-answers.ts';
import { encryptedAnswers } from './saml-forgeries/encrypted-answers.ts';
import type { Forgery } from './saml-forgeries/forgery.ts';
import { misdirectedAnswers } from './saml-forgeries/misdirected-answers.ts';
import { misreadAnswers } from './saml-forgeries/misread-answers.ts';
import { weaklySignedAnswers } from './saml-forgeries/weakly-signed-answers.ts';
import { wrappedAnswers } from './saml-forgeries/wrapped-answers.ts';

/** Every forgery that is refused whatever the connection's settings, by attack id. */
export const forgeries: Forgery[] = [
  ...wrappedAnswers,
  ...weaklySignedAnswers,
  ...misdirectedAnswers,
  ...misreadAnswers,
  ...encryptedAnswers,
  ...costlyAnswers,
];
