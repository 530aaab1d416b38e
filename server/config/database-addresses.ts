const form = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^@/?]+)([/?].*)?$/;

/**
 * The addresses in one that names several servers as `host:port,host:port`: one for each (PostgreSQL, §34.1.1.2). Null
 * if it is not an address of PostgreSQL.
 */
export function databaseAddresses(text: string): string[] | null {
  const [, start = '', hosts = '', rest = ''] = form.exec(text) ?? [];
  const urls = hosts.split(',').map((host) => URL.parse(start + host + rest));
  const addresses = urls.flatMap((url) => {
    if (!url?.hostname) return [];
    // Of several servers, the primary is used in any case.
    url.searchParams.delete('target_session_attrs');
    return [url.href];
  });
  return addresses.length === urls.length ? addresses : null;
}
