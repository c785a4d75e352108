# SPDX-License-Identifier: Apache-2.0
"""Validates answers of the daemon against its OpenAPI document, docs/reference/openapi.json."""
import functools
import json
import os
import urllib.parse

import jsonschema

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/reference/openapi.json")


class Api:
    """An OpenAPI document; each schema is compiled once."""

    def __init__(self, document):
        self.document = document
        self.resolver = jsonschema.RefResolver("", document)

    @functools.lru_cache(maxsize=None)
    def validator(self, path, status):
        responses = self.document["paths"][path]["get"]["responses"]
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
