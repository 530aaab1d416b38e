import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeCertificate } from '#server/single-sign-on/portal-keys.ts';
import { bringPackages } from '../support/bring-packages.ts';
import { freePort } from '../support/free-port.ts';
import { isAnswered, startProcess } from '../support/started-process.ts';

/** How the provider answers; the default is what real ones do. */
type SamlProviderOptions = {
  signs?: 'both' | 'assertion' | 'response';
  algorithm?: 'rsa-sha256' | 'rsa-sha1';
  /** With AES-128-CBC and RSA-OAEP, its own choice. */
  encrypts?: boolean;
  nameFormat?: 'persistent' | 'transient';
};

export type SamlProviderForTest = Awaited<ReturnType<typeof startSamlProvider>>;

const files = join(import.meta.dirname, 'saml-provider');
const nobody = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="urn:nobody"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="http://localhost/"/></SPSSODescriptor></EntityDescriptor>`;

/**
 * An independent provider: SimpleSAMLphp, with a page that accepts any identity (`email`, and `subject` if it differs
 * from the address's own) and a link `Cancel`. It remembers who signed in for as long as the browser keeps its cookies.
 * Its clock is real.
 */
export async function startSamlProvider() {
  await bringSimplesamlphp();
  const folder = await mkdtemp(join(tmpdir(), 'saml-provider-'));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  const { certificate, privateKey } = await makeCertificate('idp', new Date(Date.now() - 24 * 3_600_000));
  await write('certificate.pem', certificate);
  await write('key.pem', privateKey);
  await write('portal.xml', nobody);
  await write('options.json', optionsText({}));
  // By IP address, so that it is another site than a portal on localhost, like real providers.
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = {
    ...process.env,
    SIMPLESAMLPHP_CONFIG_DIR: files,
    IDP_PROGRAM: simplesamlphp,
    IDP_FOLDER: folder,
    IDP_ORIGIN: origin,
  };
  const arguments_ = ['-S', `127.0.0.1:${port}`, '-t', `${simplesamlphp}/www`, join(files, 'router.php')];
  const metadataUrl = `${origin}/saml2/idp/metadata.php`;
  const php = await startProcess('php', arguments_, () => isAnswered(metadataUrl), { env });
  return {
    origin,
    entityId: `${origin}/idp`,
    metadataUrl,
    signOnUrl: `${origin}/saml2/idp/SSOService.php`,
    metadata: async () => await (await fetch(metadataUrl)).text(),
    /** Registers the portal, by the metadata that it publishes. */
    trust: (portalMetadata: string) => write('portal.xml', portalMetadata),
    set: (next: SamlProviderOptions) => write('options.json', optionsText(next)),
    /** Where a visit to the portal starts at the provider, and where a person signs out there and everywhere. */
    beginUrl: (portal: string) => `${origin}/saml2/idp/SSOService.php?${new URLSearchParams({ spentityid: portal })}`,
    signOutUrl: `${origin}/saml2/idp/SingleLogoutService.php?${new URLSearchParams({ ReturnTo: `${origin}/signed-out` })}`,
    log: php.output,
    close: async () => {
      await php.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function optionsText(options: SamlProviderOptions): string {
  const { signs = 'both', algorithm = 'rsa-sha256', encrypts = false, nameFormat = 'persistent' } = options;
  return JSON.stringify({
    signsResponse: signs !== 'assertion',
    signsAssertion: signs !== 'response',
    signatureAlgorithm: `http://www.w3.org/${algorithm === 'rsa-sha1' ? '2000/09/xmldsig#' : '2001/04/xmldsig-more#'}${algorithm}`,
    encrypts,
    nameFormat: `urn:oasis:names:tc:SAML:2.0:nameid-format:${nameFormat}`,
  });
}

const run = promisify(execFile);

/** Debian's path; SIMPLESAMLPHP overrides it. */
const simplesamlphp = process.env.SIMPLESAMLPHP ?? '/usr/share/simplesamlphp';

// micro-httpd satisfies the dependency on a web server, which we don't use: PHP has its own.
const packages = ['simplesamlphp', 'php-cli', 'php-cgi', 'php-xml', 'php-mbstring', 'micro-httpd'];

/** Brings SimpleSAMLphp. */
export const bringSimplesamlphp = () => bringPackages(packages, isHere);

async function isHere(): Promise<boolean> {
  if (!existsSync(`${simplesamlphp}/www/saml2/idp/SSOService.php`)) return false;
  const modules = await run('php', ['-m'], { timeout: 30_000 }).then(
    ({ stdout }) => stdout.split('\n'),
    (): string[] => [],
  );
  return ['dom', 'mbstring', 'openssl'].every((module) => modules.includes(module));
}
