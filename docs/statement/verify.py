#!/usr/bin/env python3
"""Verifies a statement by docs/statement.md alone: verify.py FILE PUBLIC_KEY_FILE."""

import base64, datetime, hashlib, json, re, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

HEADER = set("type version signer basis since until zone by salt counts lines root".split())
COUNTS = set("accepted duplicate rejected late repaired erased".split())
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Wrong(Exception):
    pass


def require(holds, why):
    if not holds:
        raise Wrong(why)


def once(pairs):
    names = [name for name, _ in pairs]
    require(len(names) == len(set(names)), "a name stands twice")
    return dict(pairs)


def check_types(value):
    require(type(value) in (dict, list, str, int), "neither text nor whole number")
    if type(value) is int:
        require(0 <= value < 2**53, "a number out of range")
    for inner in value.values() if type(value) is dict else value if type(value) is list else ():
        check_types(inner)


def canonical(line):
    try:
        text = line.decode("utf-8")
        value = json.loads(text, object_pairs_hook=once)
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except ValueError as error:
        raise Wrong(f"a line is not JSON: {error}") from None
    require(type(value) is dict and written == text, "a line is not written in its one form")
    check_types(value)
    return value


def decode(text, size):
    try:
        raw = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise Wrong("no base64") from None
    require(len(raw) == size and base64.b64encode(raw).decode() == text, "base64 of another length or form")
    return raw


def leaf(data):
    return hashlib.sha256(b"\0" + data).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    def __init__(self):
        self.parts = []

    def append(self, found):
        size = 1
        while self.parts and self.parts[-1][0] == size:
            found, size = node(self.parts.pop()[1], found), size * 2
        self.parts.append((size, found))

    def root(self):
        if not self.parts:
            return hashlib.sha256(b"").digest()
        found = self.parts[-1][1]
        for _, left in reversed(self.parts[:-1]):
            found = node(left, found)
        return found


def roots(old_root, old, size, proof, is_whole):
    """RFC 9162, 2.1.4.1, backwards: the roots of the smaller and of the larger tree."""
    if old == size:
        return (old_root, old_root) if is_whole else (proof.pop(), ) * 2
    require(proof, "a consistency proof that is too short")
    last, part = proof.pop(), 1 << (size - 1).bit_length() - 1
    if old <= part:
        left, grown = roots(old_root, old, part, proof, is_whole)
        return left, node(grown, last)
    right, grown = roots(old_root, old - part, size - part, proof, False)
    return node(last, right), node(last, grown)


def check_ledger(ledger):
    require(type(ledger) is dict and set(ledger) == {"origin", "since", "until", "consistency"}, "no ledger")
    heads = [ledger["since"], ledger["until"]]
    require(all(type(head) is dict and set(head) == {"size", "root"} for head in heads), "no heads of the ledger")
    (old, old_root), (size, root) = [(head["size"], decode(head["root"], 32)) for head in heads]
    require(type(old) is int and type(size) is int and old <= size, "the ledger shrinks")
    proof = [decode(text, 32) for text in ledger["consistency"]]
    found = (Tree().root(), root) if old == 0 else roots(old_root, old, size, proof, True)
    require(not proof and found == (old_root, root), "the ledger did not grow from its beginning")


def verify(path, keys):
    with open(path, "rb") as file:
        content = file.read()
    body, last = content[:-105], content[-105:]
    match = re.fullmatch(rb'\{"signature":"([A-Za-z0-9+/=]{88})"\}\n', last)
    require(match and body.endswith(b"\n"), "no signature at the end")
    first, *lines = body[:-1].split(b"\n")
    header = canonical(first)
    basis = "ledger" if header.get("basis") == "received" else "evidence"
    require(set(header) == HEADER | {basis} and header["type"] == "leads/statement" and header["version"] == 1, "no header")
    require(header["basis"] in ("received", "created") and type(header["by"]) is list, "no basis")
    require(type(header["counts"]) is dict and set(header["counts"]) == COUNTS, "other counts")
    times = [header["since"], header["until"]]
    require(all(type(text) is str and TIME.fullmatch(text) for text in times), "no time")
    since, until = [datetime.datetime.fromisoformat(text[:-1] + "+00:00").timestamp() * 1000 for text in times]
    tree, before, accepted = Tree(), "", 0
    for line in lines:
        value = canonical(line)
        require({"digest", "at"} <= set(value) <= {"digest", "at", "category", "source", "border"}, "other fields")
        require(type(value["at"]) is int and type(value["digest"]) is str, "no digest or time")
        border = "before" if value["at"] < since else "after" if value["at"] >= until else None
        require(value.get("border") == border, "a border where there is none")
        require(re.fullmatch("[0-9a-f]{64}", value["digest"]) and value["digest"] > before, "not in order")
        before, accepted = value["digest"], accepted + (border is None)
        tree.append(leaf(line))
    found = (len(lines), accepted, tree.root())
    require(found == (header["lines"], header["counts"]["accepted"], decode(header["root"], 32)), "other lines than it says")
    check_ledger(header["ledger"]) if basis == "ledger" else require(type(header["evidence"]) is str, "no evidence")
    require(header["signer"] in keys, "unknown signer")
    key = Ed25519PublicKey.from_public_bytes(decode(header["signer"].split("+", 2)[2], 33)[1:])
    try:
        key.verify(decode(match[1].decode(), 64), b"leads/statement/1\n" + hashlib.sha256(body).digest())
    except InvalidSignature:
        raise Wrong("the signature is not of these bytes") from None
    return header


try:
    with open(sys.argv[2], encoding="utf-8") as trusted:
        found = verify(sys.argv[1], trusted.read().split())
    print(f"it holds: {found['counts']['accepted']} leads, signed by {found['signer']}")
except (Wrong, OSError, ValueError) as error:
    sys.exit(f"it does not hold: {error}")
