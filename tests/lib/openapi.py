# SPDX-License-Identifier: Apache-2.0
"""Validates answers of the daemon against its OpenAPI document, docs/reference/openapi.json."""
import functools
import json
import os
import urllib.parse

import jsonschema

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/reference/openapi.json")


def closed(schema):
    """A copy in which no object has other members than those described. The document itself is open, because later versions may add keys."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    of_an_object = schema.get("type") == "object" and isinstance(schema.get("properties"), dict)
    return {**({"additionalProperties": False} if of_an_object else {}), **{key: closed(value) for key, value in schema.items()}}


class Api:
    """An OpenAPI document; each schema is compiled once. strict: an unknown member is an error."""

    def __init__(self, document, strict=True):
        self.document = document
        self.rules = closed(document) if strict else document
        self.resolver = jsonschema.RefResolver("", self.rules)

    @functools.lru_cache(maxsize=None)
    def validator(self, path, status):
        responses = self.rules["paths"][path]["get"]["responses"]
        schema = responses[status if status in responses else "default"]["content"]["application/json"]["schema"]
        return jsonschema.Draft202012Validator(schema, resolver=self.resolver)

    def path_of(self, url):
        """The API's path in a URL, which may have a proxy's prefix. None: not part of the API."""
        path = urllib.parse.urlsplit(url).path
        return max((p for p in self.document["paths"] if path.endswith(p)), key=len, default=None)

    def check(self, url, status, text):
        """Raises AssertionError if the document does not match its schema."""
        path = self.path_of(url)
        assert path, f"{url} is no path of the API"
        errors = sorted(self.validator(path, str(status)).iter_errors(json.loads(text)), key=jsonschema.exceptions.relevance)
        assert not errors, f"{url}: {errors[-1].json_path}: {errors[-1].message[:400]}"


@functools.lru_cache(maxsize=None)
def served():
    with open(FILE, encoding="utf-8") as f:
        return Api(json.load(f))
