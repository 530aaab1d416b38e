<?php
$options = json_decode(file_get_contents(getenv('IDP_FOLDER') . '/options.json'), true);
$metadata[getenv('IDP_ORIGIN') . '/idp'] = [
    'host' => '__DEFAULT__',
    'privatekey' => 'key.pem',
    'certificate' => 'certificate.pem',
    'auth' => 'people',
    'signature.algorithm' => $options['signatureAlgorithm'],
    'saml20.sign.response' => $options['signsResponse'],
    'saml20.sign.assertion' => $options['signsAssertion'],
    'assertion.encryption' => $options['encrypts'],
    // Requests of the portal must be signed by a key in its metadata.
    'validate.authnrequest' => true,
    'validate.logout' => true,
    'sign.logout' => true,
    'authproc' => [
        1 => ['class' => 'saml:AttributeNameID', 'attribute' => 'subject', 'Format' => $options['nameFormat']],
        2 => ['class' => 'core:AttributeLimit', 'email'],
    ],
    'NameIDFormat' => $options['nameFormat'],
];
