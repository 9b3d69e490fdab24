#!/usr/bin/env python3
"""Checks vectors.json with a verifier of its own: the standard library, so shared secrets and tokens alone."""
import base64, hashlib, hmac, json, pathlib, re, sys
from datetime import datetime

LENGTHS = {"hmac-sha1": 20, "hmac-sha256": 32, "hmac-sha384": 48, "hmac-sha512": 64}
DELIMITERS = re.compile("%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)", re.I)


class Refused(Exception):
    """With the reason, as the vectors name it."""


def values_of(headers, name):
    return [value for key, value in headers if key.lower() == name]


def sole(headers, name, absent):
    values = values_of(headers, name)
    if len(values) > 1:
        raise Refused("repeated_credential")
    if not values or not values[0]:
        raise Refused(absent)
    return values[0]


def padded(text):
    return text if text.endswith("=") else text + "=" * (-len(text) % 4)


def decoded(text, encoding):
    """The bytes; None unless the text is what an encoder writes for them."""
    try:
        if encoding.startswith("hex"):
            return bytes.fromhex(text) if re.fullmatch("[0-9A-Fa-f]*", text) else None
        if encoding == "base64":
            raw = base64.b64decode(text, validate=True)
            return raw if base64.b64encode(raw).decode() == text else None
        raw = base64.b64decode(padded(text), altchars=b"-_", validate=True)
        return raw if base64.urlsafe_b64encode(raw).decode().rstrip("=") == text else None
    except ValueError:
        return None


def secret_bytes(text, encoding):
    if encoding == "utf8":
        return text.encode()
    if encoding == "hex":
        return bytes.fromhex(text)
    return base64.b64decode(padded(re.sub("^whsec_", "", text) if encoding == "whsec" else text))


def seconds_of(text, form):
    if form == "iso":
        pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)"
        if not re.fullmatch(pattern, text, re.A):
            raise Refused("malformed_timestamp")
        try:
            # Python before 3.11 reads neither Z nor other fractions than three or six digits.
            whole = re.sub(r"\.\d+", "", text).replace("Z", "+00:00")
            fraction = re.search(r"\.\d+", text)
            return datetime.fromisoformat(whole).timestamp() + float(fraction.group() if fraction else 0)
        except ValueError:
            raise Refused("malformed_timestamp") from None
    if not re.fullmatch(r"(0|[1-9]\d{0,14})", text, re.A):
        raise Refused("malformed_timestamp")
    return int(text) / (1 if form == "unix" else 1000)


def entries_of(headers, scheme):
    """The values of the signature's header, between its separators."""
    value = sole(headers, scheme["signatureHeader"], "missing_credential")
    prefix, stamp = scheme["prefix"], scheme.get("timestampPrefix")
    separator = scheme.get("separator")
    if separator is None:
        # A proxy may have joined two headers of one name by a comma.
        if "," in (value[len(prefix):] if value.startswith(prefix) else value):
            raise Refused("repeated_credential")
        return [value]
    if "," not in separator:
        starts = [stamp] if stamp else [prefix, scheme.get("ed25519Prefix", prefix)]
        if re.search(r",\s*(?:" + "|".join(map(re.escape, starts)) + ")", value):
            raise Refused("repeated_credential")
    return [entry.strip() for entry in value.split(separator.strip() or separator)]


def signed_content(scheme, request, stamp, nonce):
    url = request["url"]
    path = "/" + url.split("/", 3)[3]
    slots = {
        "body": base64.b64decode(request["body"]),
        "timestamp": stamp.encode("latin-1"),
        "nonce": nonce.encode("latin-1"),
        "id": nonce.encode("latin-1"),
        "method": request["method"].encode(),
        "url": url.encode(),
        "path": path.encode(),
        "decodedUrl": DELIMITERS.sub(lambda m: bytes.fromhex(m.group()[1:]).decode(), url).encode(),
    }
    pieces = re.split(r"(\{\w+\})", scheme["content"])
    return b"".join(slots[p[1:-1]] if p.startswith("{") else p.encode() for p in pieces)


def verify_template(vector, scheme):
    request, headers = vector["request"], vector["request"]["headers"]
    names = [scheme, *({**scheme, **other} for other in scheme.get("otherNames", []))]
    scheme = next((s for s in names if values_of(headers, s["signatureHeader"])), scheme)
    entries = entries_of(headers, scheme)
    prefix, stamp_prefix = scheme["prefix"], scheme.get("timestampPrefix")
    stamps = [e for e in entries if stamp_prefix and e.startswith(stamp_prefix)]
    if len(entries) > 16:
        raise Refused("malformed_credential")
    if len(stamps) > 1:
        raise Refused("repeated_credential")
    algorithm = scheme["algorithm"]
    found = [decoded(e[len(prefix):], scheme["encoding"]) for e in entries if e.startswith(prefix)]
    signatures = [s for s in found if s is not None and len(s) == LENGTHS[algorithm]]
    if not signatures:
        raise Refused("malformed_credential")
    stamp, at = "", None
    if "{timestamp}" in scheme["content"]:
        if "timestampHeader" in scheme:
            stamp = sole(headers, scheme["timestampHeader"], "missing_timestamp")
        elif stamps:
            stamp = stamps[0][len(stamp_prefix):]
        else:
            raise Refused("missing_timestamp")
        at = seconds_of(stamp, scheme["timestampFormat"])
    nonce = sole(headers, scheme["nonceHeader"], "missing_nonce") if "nonceHeader" in scheme else ""
    if "noncePattern" in scheme and not re.search(scheme["noncePattern"], nonce):
        raise Refused("malformed_credential")
    content = signed_content(scheme, request, stamp, nonce)
    macs = [
        hmac.new(secret_bytes(key, scheme["secretEncoding"]), content, algorithm[5:]).digest()
        for key in vector["keys"]
    ]
    if not any([hmac.compare_digest(mac, s) for mac in macs for s in signatures]):
        raise Refused("wrong_credential")
    if at is not None:
        age, tolerance = vector["now"] - at, scheme["toleranceSeconds"]
        if abs(age) > tolerance:
            raise Refused("stale_timestamp" if age > 0 else "future_timestamp")


def verify_token(vector, scheme):
    sent = sole(vector["request"]["headers"], scheme["tokenHeader"], "missing_credential").encode("latin-1")
    if not any([hmac.compare_digest(key.encode(), sent) for key in vector["keys"]]):
        raise Refused("wrong_credential")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("vectors.json")
    file = json.loads(pathlib.Path(path).read_bytes())
    if file["version"] != 1:
        sys.exit(f"version {file['version']} of the vectors is not known here")
    checked, skipped, wrong = 0, {}, 0
    for vector in file["vectors"]:
        scheme = file["schemes"][vector["scheme"]]
        if vector["algorithm"] not in (*LENGTHS, "none"):
            skipped[vector["algorithm"]] = skipped.get(vector["algorithm"], 0) + 1
            continue
        try:
            (verify_token if scheme["kind"] == "token" else verify_template)(vector, scheme)
            said = "genuine"
        except Refused as refused:
            said = str(refused)
        checked += 1
        if said != vector.get("reason", "genuine"):
            wrong += 1
            print(f"{vector['id']}: {said}, not {vector.get('reason', 'genuine')}")
    print(f"{checked - wrong} of {checked} agree; skipped {sum(skipped.values())}: {skipped}")
    sys.exit(1 if wrong or not checked else 0)


if __name__ == "__main__":
    main()
