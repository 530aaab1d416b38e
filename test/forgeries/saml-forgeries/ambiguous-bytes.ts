import { field } from '../forged-saml.ts';
import { changed, type Forgery, forged } from './forgery.ts';

/** Bytes that two parsers could read as different documents. */
export const ambiguousBytes: Forgery[] = [
  forged('SA-34 two roots', /well-formed/, (f) => field(`${f.response(f.sign(f.assertion()))}<x/>`)),
  forged('SA-34 text behind the root', /text outside/, (f) => field(`${f.response(f.sign(f.assertion()))}x`)),
  forged('SA-34 text before the root', /text outside/, (f) => field(`x${f.response(f.sign(f.assertion()))}`)),
  forged('SA-34 a byte order mark', /text outside/, (f) => field(`\uFEFF${f.response(f.sign(f.assertion()))}`)),
  forged('SA-34 UTF-16', /base64 of UTF-8|text outside|well-formed/, (f) =>
    Buffer.from(`\uFEFF${f.response(f.sign(f.assertion()))}`, 'utf16le').toString('base64'),
  ),
  forged('SA-34 declared as UTF-7', /not declared as UTF-8/, (f) =>
    field(`<?xml version="1.0" encoding="UTF-7"?>${f.response(f.sign(f.assertion()))}`),
  ),
  forged('SA-34 declared as XML 1.1', /not declared as UTF-8/, (f) =>
    field(`<?xml version="1.1" encoding="UTF-8"?>${f.response(f.sign(f.assertion()))}`),
  ),
  forged('SA-34 bytes that are not UTF-8', /not base64 of UTF-8/, (f) =>
    Buffer.from(f.response(f.sign(f.assertion())).replace('bob-1', 'b\u00e4b'), 'latin1').toString('base64'),
  ),
  forged('SA-34 base64 with something else in it', /not base64/, (f) => `${field(f.response(f.sign(f.assertion())))}!`),
  forged('SA-34 base64 for addresses', /not base64/, (f) => `_${field(f.response(f.sign(f.assertion()))).slice(1)}-A`),
  forged('SA-34 nothing', /not base64/, () => ''),
  forged('SA-34 an attribute twice', /not well-formed/, (f) =>
    field(changed(f.response(f.sign(f.assertion())), 'Version="2.0"', 'Version="2.0" Version="2.0"')),
  ),
];
