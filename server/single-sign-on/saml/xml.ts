import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { limits } from '../../limits.ts';

/** What we use of a parsed document (DOM Level 2 Core §1.2). */
type XmlNode = {
  nodeType: number;
  nodeValue: string | null;
  firstChild: XmlNode | null;
  nextSibling: XmlNode | null;
};

export type XmlElement = XmlNode & {
  namespaceURI: string | null;
  localName: string;
  nodeName: string;
  childNodes: ArrayLike<XmlNode>;
  attributes: ArrayLike<{ name: string; localName: string | null; value: string }>;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
  toString(): string;
  /** Of all nodes below it but comments and processing instructions. */
  textContent: string;
};

/** An element's name: namespace and local name. */
export type XmlName = readonly [namespace: string, name: string];

type Parser = { parseFromString(text: string, type: 'text/xml'): { documentElement: XmlElement | null } };

/** A library of XML, loaded by the first document. Not by `import`: its types would add a browser's whole DOM to the server's. */
export const requireXml = createRequire(import.meta.url);

type ParserLibrary = {
  DOMParser: new (options: { errorHandler: (level: string, message: string) => never }) => Parser;
};

export type XmlReading = { kind: 'ok'; text: string; root: XmlElement } | { kind: 'refused'; problem: string };

const declaration = /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/i;

/**
 * Reads foreign XML by a parser whose every warning is an error. Before it sees a document, the signs are counted that
 * cost time (elements, attributes, entities), and document types are refused; in messages, comments, processing instructions
 * and CDATA too, which another parser would read otherwise. And XHTML: the parser reads its scripts by other rules.
 */
export function readXml(
  text: string,
  { isMessage = true, signs = limits.samlSigns }: { isMessage?: boolean; signs?: number } = {},
): XmlReading {
  const no = (problem: string): XmlReading => ({ kind: 'refused', problem });
  const count = (text.match(/[<=&]/g) ?? []).length;
  if (count > signs)
    return no(`it has too many elements, attributes or entities (${count}, at most ${signs}): have fewer groups sent`);
  const body = text.replace(declaration, '');
  if (isMessage && /<[?!]/.test(body))
    return no('it holds a comment, CDATA, a document type or a processing instruction, or is not declared as UTF-8');
  if (/<!(?!--|\[CDATA\[)/.test(body)) return no('it holds a document type (DOCTYPE): remove it');
  if (!/^[\t\n\r ]*</.test(body) || !body.trimEnd().endsWith('>')) return no('it has text outside its root');
  if (body.includes('http://www.w3.org/1999/xhtml')) return no('it holds XHTML');
  const { DOMParser } = requireXml('@xmldom/xmldom') as ParserLibrary;
  try {
    const root = new DOMParser({ errorHandler }).parseFromString(text, 'text/xml').documentElement;
    return root ? { kind: 'ok', text, root } : no('it has no root');
  } catch {
    return no('it is not well-formed');
  }
}

function errorHandler(_level: string, message: string): never {
  throw new Error(message);
}

/** The content of a SAMLResponse field (SAML bindings §3.5.4). */
export function readSamlField(field: string): XmlReading {
  const text = samlText(field);
  return text === null ? { kind: 'refused', problem: 'it is not base64 of UTF-8' } : readXml(text);
}

/** The text in a field: canonical base64, except for line breaks, of UTF-8; null if it is anything else. */
export function samlText(field: string): string | null {
  const base64 = field.replace(/[\t\n\r ]/g, '');
  const bytes = Buffer.from(base64, 'base64');
  return base64 !== '' && bytes.toString('base64') === base64 ? utf8(bytes) : null;
}

/** Bytes as text, without a byte order mark; null if they are not UTF-8. */
export function utf8(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : null;
}

/** An element and all elements below it, in document order. */
export function elementsIn(root: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  const collect = (element: XmlElement) => {
    found.push(element);
    for (let node = element.firstChild; node !== null; node = node.nextSibling) if (isElement(node)) collect(node);
  };
  collect(root);
  return found;
}

export function childrenOf(parent: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) if (isElement(node)) found.push(node);
  return found;
}

/** The children of this name; with several names, their children of the next one. */
export function childrenNamed(parent: XmlElement, ...path: readonly XmlName[]): XmlElement[] {
  const stepDown = (found: XmlElement[], name: XmlName) =>
    found.flatMap(childrenOf).filter((child) => isNamed(child, name));
  return path.reduce(stepDown, [parent]);
}

/** The elements of this name below an element. */
export function descendantsNamed(root: XmlElement, name: XmlName): XmlElement[] {
  return elementsIn(root)
    .slice(1)
    .filter((element) => isNamed(element, name));
}

export function isNamed(element: XmlElement, [namespace, name]: XmlName): boolean {
  return element.namespaceURI === namespace && element.localName === name;
}

function isElement(node: XmlNode): node is XmlElement {
  return node.nodeType === 1;
}

/** An attribute without a namespace, or null. */
export function attributeOf(element: XmlElement, name: string): string | null {
  return element.hasAttribute(name) ? element.getAttribute(name) : null;
}

/**
 * The text of an element, without the white space around it of providers that print before they sign; null if it contains
 * anything but text, so that nothing is ever cut.
 */
export function textOf(element: XmlElement): string | null {
  const nodes = Array.from(element.childNodes);
  if (!nodes.every(({ nodeType }) => nodeType === 3)) return null;
  return trimmed(nodes.map(({ nodeValue }) => nodeValue ?? '').join(''));
}

/** Without white space of XML around it. */
export function trimmed(text: string): string {
  return text.replace(/^[\t\n\r ]+|(?<![\t\n\r ])[\t\n\r ]+$/g, '');
}

const assertion = 'urn:oasis:names:tc:SAML:2.0:assertion';
const metadata = 'urn:oasis:names:tc:SAML:2.0:metadata';
const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';
const signature = 'http://www.w3.org/2000/09/xmldsig#';
const encryption = 'http://www.w3.org/2001/04/xmlenc#';

export const namespaces = { assertion, metadata, protocol, signature, encryption };

export const saml = (name: string): XmlName => [assertion, name];
export const samlp = (name: string): XmlName => [protocol, name];
export const md = (name: string): XmlName => [metadata, name];
export const ds = (name: string): XmlName => [signature, name];
export const xenc = (name: string): XmlName => [encryption, name];

/** How messages are sent (SAML bindings §3.4, §3.5). */
export const bindings = {
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
};

/** The formats of a person's name (SAML core §8.3). */
export const nameFormats = {
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  entity: 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity',
};

export const algorithms = {
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  enveloped: 'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  rsaOaep: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  /** SHA-1, which is safe in OAEP, and the default of providers. */
  oaepDigest: 'http://www.w3.org/2000/09/xmldsig#sha1',
  gcm: ['http://www.w3.org/2009/xmlenc11#aes256-gcm', 'http://www.w3.org/2009/xmlenc11#aes128-gcm'],
  cbc: ['http://www.w3.org/2001/04/xmlenc#aes256-cbc', 'http://www.w3.org/2001/04/xmlenc#aes128-cbc'],
};
