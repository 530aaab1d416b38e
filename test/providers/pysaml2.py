"""A SAML provider of pysaml2 for one step: reads what it is given as JSON, and prints its message."""

import json
import sys

from saml2 import BINDING_HTTP_POST as POST
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server

given = json.load(sys.stdin)
endpoints = {f"single_{name}_service": [(f"https://py.test/{name}", POST)] for name in ("sign_on", "logout")}
config = IdPConfig().load({
    "entityid": "https://py.test/idp", "key_file": given["key"], "cert_file": given["certificate"],
    "xmlsec_binary": "/usr/bin/xmlsec1", "metadata": {"inline": [given["portal"]]},
    "service": {"idp": {"want_authn_requests_signed": True, "endpoints": endpoints}},
})
# Its default is SHA-1.
how = {"sign_alg": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", "digest_alg": "http://www.w3.org/2001/04/xmlenc#sha256"}
who = {"name_id": NameID(format=NAMEID_FORMAT_PERSISTENT, text="pia-1"), **how}
if given["step"] == "metadata":
    print(entity_descriptor(config))
if given["step"] == "answer":
    idp = Server(config=config)
    asked = idp.response_args(idp.parse_authn_request(given["request"], POST).message)
    signs = {"sign_response": given["signsBoth"], "sign_assertion": True}
    authn = {"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"}
    print(idp.create_authn_response({"mail": ["pia@py.test"]}, authn=authn, **who, **signs, **asked))
if given["step"] == "logout":
    print(Server(config=config).create_logout_request(given["to"], given["portalId"], sign=True, **who)[1])
