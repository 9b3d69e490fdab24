// Checks vectors.json with a verifier of its own: tokens and shared secrets, by the standard library; the rest is skipped.
package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type refusal string // Why a delivery is refused, as the vectors name it.
type names struct{ SignatureHeader, TimestampHeader, NonceHeader string }
type scheme struct {
	names
	Kind, TokenHeader, Algorithm, Encoding, Prefix, Separator, TimestampPrefix, Ed25519Prefix string
	Content, SecretEncoding, TimestampFormat, NoncePattern                                    string
	ToleranceSeconds                                                                          float64
	OtherNames                                                                                []names
}
type vector struct {
	Id, Scheme, Algorithm string
	Reason                refusal
	Keys                  []string
	Now                   float64
	Request               struct {
		Method, Url string
		Headers     [][2]string
		Body        []byte
	}
}

func require(holds bool, reason refusal) {
	if !holds {
		panic(reason)
	}
}

var hashes = map[string]func() hash.Hash{"hmac-sha1": sha1.New, "hmac-sha256": sha256.New,
	"hmac-sha384": sha512.New384, "hmac-sha512": sha512.New}
var decoders = map[string]func(string) ([]byte, error){"hex": hex.DecodeString, "hex-upper": hex.DecodeString,
	"base64": base64.StdEncoding.Strict().DecodeString, "base64url": base64.RawURLEncoding.Strict().DecodeString}
var slot, integer = regexp.MustCompile(`\{\w+\}`), regexp.MustCompile(`^(0|[1-9]\d{0,14})$`)
var delimiters = regexp.MustCompile(`(?i)%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)`)

func (v vector) values(name string) (found []string) {
	for _, header := range v.Request.Headers {
		if strings.EqualFold(header[0], name) {
			found = append(found, header[1])
		}
	}
	return found
}

func (v vector) sole(name string, absent refusal) string {
	found := v.values(name)
	require(len(found) < 2, "repeated_credential")
	require(len(found) == 1 && found[0] != "", absent)
	return found[0]
}

// The bytes; nil unless the text is what an encoder writes for them.
func decoded(text, encoding string) []byte {
	if raw, err := decoders[encoding](text); err == nil && !strings.ContainsAny(text, "\r\n") {
		return raw
	}
	return nil
}

func secretBytes(text, encoding string) []byte {
	if encoding == "utf8" {
		return []byte(text)
	}
	text = strings.TrimPrefix(text, "whsec_")
	if encoding != "hex" && len(text)%4 > 0 {
		text += strings.Repeat("=", 4-len(text)%4)
	}
	return decoded(text, strings.Replace(encoding, "whsec", "base64", 1))
}

func secondsOf(text, form string) float64 {
	if form == "iso" {
		at, err := time.Parse(time.RFC3339Nano, text)
		require(err == nil, "malformed_timestamp")
		return float64(at.UnixMilli()) / 1000
	}
	require(integer.MatchString(text), "malformed_timestamp")
	n, _ := strconv.ParseFloat(text, 64)
	return n / map[string]float64{"unix": 1, "milliseconds": 1000}[form]
}

func unescaped(code string) string { return string(decoded(code[1:], "hex")) }

func (s scheme) content(v vector, stamp, nonce string) []byte {
	values := map[string]string{
		"{timestamp}": stamp, "{nonce}": nonce, "{id}": nonce, "{method}": v.Request.Method, "{url}": v.Request.Url,
		"{path}": "/" + strings.SplitN(v.Request.Url, "/", 4)[3], "{body}": string(v.Request.Body),
		"{decodedUrl}": delimiters.ReplaceAllStringFunc(v.Request.Url, unescaped),
	}
	return slot.ReplaceAllFunc([]byte(s.Content), func(name []byte) []byte { return []byte(values[string(name)]) })
}

// Splits the signature's header; a proxy may have joined two headers of one name by a comma.
func (s scheme) entries(value string) []string {
	if s.Separator == "" {
		require(!strings.Contains(strings.TrimPrefix(value, s.Prefix), ","), "repeated_credential")
		return []string{value}
	}
	start := map[bool]string{true: s.Prefix, false: s.TimestampPrefix}[s.TimestampPrefix == ""]
	again := regexp.MustCompile(`,\s*` + regexp.QuoteMeta(start))
	require(strings.Contains(s.Separator, ",") || !again.MatchString(value), "repeated_credential")
	return strings.Split(value, s.Separator[:1])
}

func (s scheme) verify(v vector) (reason refusal) {
	defer func() { reason, _ = recover().(refusal) }()
	found, stamps, signatures := false, []string{}, [][]byte{}
	if s.Kind == "token" {
		for _, key := range v.Keys {
			found = hmac.Equal([]byte(key), []byte(v.sole(s.TokenHeader, "missing_credential"))) || found
		}
		require(found, "wrong_credential")
		return ""
	}
	for _, other := range s.OtherNames {
		if len(v.values(s.SignatureHeader)) == 0 {
			s.names = other
		}
	}
	parts := s.entries(v.sole(s.SignatureHeader, "missing_credential"))
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if s.TimestampPrefix != "" && strings.HasPrefix(part, s.TimestampPrefix) {
			stamps = append(stamps, part[len(s.TimestampPrefix):])
		}
		raw := decoded(strings.TrimPrefix(part, s.Prefix), s.Encoding)
		if strings.HasPrefix(part, s.Prefix) && len(raw) == hashes[s.Algorithm]().Size() {
			signatures = append(signatures, raw)
		}
	}
	require(len(stamps) < 2, "repeated_credential")
	require(len(parts) <= 16 && len(signatures) > 0, "malformed_credential")
	stamp, nonce, at := strings.Join(stamps, ""), "", v.Now
	if strings.Contains(s.Content, "{timestamp}") {
		require(s.TimestampHeader != "" || len(stamps) == 1, "missing_timestamp")
		if s.TimestampHeader != "" {
			stamp = v.sole(s.TimestampHeader, "missing_timestamp")
		}
		at = secondsOf(stamp, s.TimestampFormat)
	}
	if s.NonceHeader != "" {
		nonce = v.sole(s.NonceHeader, "missing_nonce")
	}
	require(regexp.MustCompile(s.NoncePattern).MatchString(nonce), "malformed_credential")
	for _, key := range v.Keys {
		mac := hmac.New(hashes[s.Algorithm], secretBytes(key, s.SecretEncoding))
		mac.Write(s.content(v, stamp, nonce))
		for _, signature := range signatures {
			found = hmac.Equal(mac.Sum(nil), signature) || found
		}
	}
	require(found, "wrong_credential")
	require(v.Now-at <= s.ToleranceSeconds, "stale_timestamp")
	require(at-v.Now <= s.ToleranceSeconds, "future_timestamp")
	return ""
}

func main() {
	var file struct {
		Version int
		Schemes map[string]scheme
		Vectors []vector
	}
	text, _ := os.ReadFile(os.Args[1])
	require(json.Unmarshal(text, &file) == nil && file.Version == 1, "no vectors of version 1")
	checked, failed, skipped := 0, 0, map[string]int{}
	for _, v := range file.Vectors {
		s := file.Schemes[v.Scheme]
		if s.Kind == "template" && hashes[v.Algorithm] == nil {
			skipped[v.Algorithm]++
			continue
		}
		checked++
		if said := s.verify(v); said != v.Reason {
			fmt.Printf("%s: %q, not %q\n", v.Id, said, v.Reason)
			failed++
		}
	}
	fmt.Printf("%d of %d agree; skipped: %v\n", checked-failed, checked, skipped)
	require(checked > 0 && failed == 0, "not all agree")
}
