import { readFileSync } from 'node:fs';
import type { Reading } from '../names/read-name.ts';

/** Of XML, which may name its encoding; the platform knows it by both names. */
const namesLatin1 = /^\s*<\?xml[^>]{0,60} encoding=["'](?:iso-8859-1|windows-1252)["']/i;

/**
 * The text that an operator wrote: UTF-8, UTF-16 as Windows marks it, or as XML says of itself. The mark at its beginning
 * (BOM) is dropped.
 */
export function readText(bytes: Uint8Array): Reading {
  const [first, second] = bytes;
  const wide = first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-16le';
  const isWide = wide === 'utf-16be' || (first === 0xff && second === 0xfe);
  const narrow = namesLatin1.test(Buffer.from(bytes.subarray(0, 100)).toString('latin1')) ? 'windows-1252' : 'utf-8';
  try {
    return { kind: 'ok', value: new TextDecoder(isWide ? wide : narrow, { fatal: true }).decode(bytes) };
  } catch {
    return { kind: 'refused', problem: 'is not UTF-8: save it as UTF-8 (Excel: CSV UTF-8)' };
  }
}

/** The text of a file of an operator; a problem names the file. */
export function readTextFile(path: string): Reading {
  try {
    const text = readText(readFileSync(path));
    return text.kind === 'ok' ? text : { kind: 'refused', problem: `${path} ${text.problem}` };
  } catch (error) {
    return { kind: 'refused', problem: `${path} cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
}
