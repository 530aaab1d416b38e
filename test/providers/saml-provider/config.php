<?php
// SimpleSAMLphp as an identity provider for tests: saml-provider-for-test.ts starts it and writes what is read here.
$folder = getenv('IDP_FOLDER') . '/';
$config = [
    'baseurlpath' => getenv('IDP_ORIGIN') . '/',
    'certdir' => $folder,
    'loggingdir' => $folder,
    'datadir' => $folder,
    'tempdir' => $folder,
    'metadata.sources' => [
        ['type' => 'flatfile', 'directory' => __DIR__ . '/metadata'],
        ['type' => 'xml', 'file' => $folder . 'portal.xml'],
    ],
    'enable.saml20-idp' => true,
    'module.enable' => ['core' => true, 'saml' => true],
    'secretsalt' => 'only for tests',
    'auth.adminpassword' => 'only for tests',
    'technicalcontact_email' => 'nobody@idp.example',
    'timezone' => 'UTC',
    'logging.handler' => 'errorlog',
    'session.cookie.secure' => false,
    'session.cookie.samesite' => null,
    'session.phpsession.savepath' => $folder,
    'store.type' => 'phpsession',
];
