import { expect, it } from 'vitest';
import { freshSignInParameters } from './start.ts';

it.each([
  ['https://idp.example', undefined, { max_age: '0', prompt: 'login' }],
  ['https://idp.example', ['none', 'login', 'select_account'], { max_age: '0', prompt: 'login' }],
  ['https://idp.example', ['none', 'select_account'], { prompt: 'select_account' }],
  ['https://idp.example', ['none', 'consent'], { max_age: '0' }],
  ['https://accounts.google.com', undefined, { prompt: 'select_account' }],
])('%s, which lists %j, gets only parameters it supports', (issuer, known, parameters) => {
  expect(freshSignInParameters({ issuer, ...(known && { prompt_values_supported: known }) })).toEqual(parameters);
});
