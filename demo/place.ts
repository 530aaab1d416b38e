import { randomUUID } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { loopbackNames } from '#server/config/public-url.ts';

/** Where the demo answers: on this machine alone by http, or in its network by https. */
export type Place = {
  /** The address that is listened on. */
  host: string;
  /** The names that a request may ask for. */
  names: readonly string[];
  tls: { key: string; cert: string } | null;
  /** The address of what listens on a port; `name` where this machine has several. */
  origin: (port: number, name?: 'localhost' | '127.0.0.1') => string;
};

export const thisMachine: Place = {
  host: '127.0.0.1',
  names: loopbackNames,
  tls: null,
  origin: (port, name = 'localhost') => `http://${name}:${port}`,
};

/** The IPv4 addresses of this machine in its networks. */
export function networkAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
  );
}

/**
 * An address of this machine in its network. The portal's cookies need https there, so a certificate is made for this run, which
 * this process trusts and a browser asks about.
 */
export async function inNetwork(host: string): Promise<Place> {
  const tls = await certificateFor(host);
  setDefaultCACertificates([...getCACertificates('default'), tls.cert]);
  return { host, names: [host], tls, origin: (port) => `https://${host}:${port}` };
}

async function certificateFor(host: string): Promise<{ key: string; cert: string }> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']);
  const hour = 3_600_000;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomUUID().replaceAll('-', ''),
    name: 'CN=Vestibule demo',
    notBefore: new Date(Date.now() - hour),
    notAfter: new Date(Date.now() + 72 * hour),
    keys,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: host }]),
    ],
  });
  const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = key.match(/.{1,64}/g)?.join('\n');
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
    cert: certificate.toString('pem'),
  };
}
